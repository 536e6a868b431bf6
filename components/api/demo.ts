import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type { breakDemoProjection, fixDemoProjection, getDemoState } from "@/server/contracts/demo";
import { callOperation } from "./call-operation";

type DemoState = z.output<(typeof getDemoState)["response"]>;
type Broken = z.output<(typeof breakDemoProjection)["response"]>;
type Fixed = z.output<(typeof fixDemoProjection)["response"]>;

export const demoState = (hostId: string) =>
  queryOptions({
    queryKey: ["getDemoState", hostId],
    queryFn: ({ signal }) => callOperation<DemoState>("getDemoState", { hostId }, signal),
    refetchInterval: 10_000,
  });

/** The two demo commands; each reads every page's numbers again when it ends, and repeats nothing. */
export function useDemoCommands(hostId: string) {
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries();
  return {
    breakProjection: useMutation({
      mutationFn: () => callOperation<Broken>("breakDemoProjection", { hostId }),
      onSettled,
    }),
    fixHandler: useMutation({ mutationFn: () => callOperation<Fixed>("fixDemoProjection", { hostId }), onSettled }),
  };
}
