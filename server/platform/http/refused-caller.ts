import type { ErrorCode, ErrorDetails } from "@/server/contracts/errors";
import { AppError } from "@/server/platform/errors";
import type { Actor } from "./operation-context";

/** A refusal before anything ran, whose caller is known all the same: so that it can be recorded under their name. */
export class RefusedCaller extends AppError {
  constructor(
    readonly actor: Actor,
    code: ErrorCode,
    details: ErrorDetails = {},
  ) {
    super(code, details);
  }
}
