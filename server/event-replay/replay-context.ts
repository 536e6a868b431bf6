import type { OperationContext } from "@/server/platform/http/operation-context";
import type { ProjectionDefinition } from "./projection/domain/types";

/** Context of operations that know the projection: the composition root supplies the definition. */
export type ReplayContext = OperationContext & { readonly projection: ProjectionDefinition };
