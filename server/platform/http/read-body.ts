import { AppError } from "@/server/platform/errors";

/**
 * Reads a body of at most `limitBytes`. Stops reading at the limit, whatever Content-Length claims.
 * Throws REPLAY_LIMIT_EXCEEDED (413) beyond it.
 */
export async function readBody(request: Request, limitBytes: number): Promise<Buffer> {
  const declared = Number(request.headers.get("content-length"));
  if (declared > limitBytes) throw tooLarge();
  if (!request.body) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks, size);
    size += value.byteLength;
    if (size > limitBytes) {
      // Not awaited: a body with a second reader is cancelled only when both are.
      void reader.cancel().catch(() => undefined);
      throw tooLarge();
    }
    chunks.push(value);
  }
}

function tooLarge(): AppError {
  return new AppError("REPLAY_LIMIT_EXCEEDED", { errors: [{ field: "", rule: "BODY_TOO_LARGE" }] });
}
