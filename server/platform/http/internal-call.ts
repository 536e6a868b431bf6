import http from "node:http";
import https from "node:https";
import { ERRORS, type ErrorCode, type ErrorDetails } from "@/server/contracts/errors";
import type { OperationKind } from "@/server/contracts/operation";
import { REQUEST_ID_HEADER } from "./request-id";

/** Marks a call that one replica passes to another, so that two misconfigured ones can't pass it to and fro. */
export const FORWARDED_HEADER = "x-event-admin-forwarded";

/** The longest answer of any operation stays far below. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export type InternalAnswer =
  | { readonly kind: "ANSWERED"; readonly body: unknown }
  | { readonly kind: "REFUSED"; readonly code: ErrorCode; readonly details: ErrorDetails }
  /** No answer of ours came back: whether the call had an effect is unknown. Only durable state can tell. */
  | { readonly kind: "LOST" };

export type InternalTarget = {
  /** Configured or loopback; never taken from a request. */
  readonly baseUrl: string;
  /** The caller's own access token, forwarded as it is: a call never has more rights than the person who made it. */
  readonly accessToken: string;
  readonly requestId: string;
  /** Of the whole exchange, milliseconds. */
  readonly timeoutMs: number;
};

/**
 * One real HTTP POST of the legacy envelope to another surface of ours, by the caller's own token. A connection of its own,
 * no pool, no redirect, no retry: sent at most once (ER-API-26). Never throws; what isn't an answer of ours is LOST.
 */
export async function callOperation(
  target: InternalTarget,
  kind: OperationKind,
  operation: string,
  data: unknown,
): Promise<InternalAnswer> {
  const envelope = { host: "lightapi.net", service: "user", action: operation, version: "0.1.0", data };
  try {
    const { status, text } = await post(target, `/portal/${kind}`, JSON.stringify(envelope));
    const body = JSON.parse(text) as unknown;
    if (status === 200) return { kind: "ANSWERED", body };
    const refusal = body as { code?: unknown; details?: ErrorDetails } | null;
    const code = refusal?.code;
    if (typeof code === "string" && Object.hasOwn(ERRORS, code)) {
      return { kind: "REFUSED", code: code as ErrorCode, details: refusal?.details ?? {} };
    }
  } catch {
    // Connection refused or cut, time over, or no JSON: nothing is known.
  }
  return { kind: "LOST" };
}

/**
 * One POST of a JSON body as it came, under the same guarantees. Null: no answer came back, and whether the call had an effect
 * is unknown.
 */
export async function passOn(target: InternalTarget, path: string, body: Buffer): Promise<Posted | null> {
  try {
    return await post(target, path, body);
  } catch {
    return null;
  }
}

type Posted = { readonly status: number; readonly text: string; readonly contentType: string };

function post(target: InternalTarget, path: string, body: string | Buffer): Promise<Posted> {
  const url = new URL(path, target.baseUrl);
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((settle, refuse) => {
    const timer = setTimeout(() => sent.destroy(new Error("time over")), target.timeoutMs);
    const resolve = (answer: Posted) => {
      clearTimeout(timer);
      settle(answer);
    };
    const reject = (error: Error) => {
      clearTimeout(timer);
      refuse(error);
    };
    const sent = request(
      url,
      {
        method: "POST",
        agent: false,
        headers: {
          authorization: `Bearer ${target.accessToken}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          [REQUEST_ID_HEADER]: target.requestId,
          [FORWARDED_HEADER]: "1",
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) sent.destroy(new Error("answer too large"));
          else chunks.push(chunk);
        });
        response.on("error", reject);
        response.on("aborted", () => reject(new Error("answer cut")));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            contentType: response.headers["content-type"] ?? "application/json",
          }),
        );
      },
    );
    sent.on("socket", (socket) => socket.setKeepAlive(true, 30_000));
    sent.on("error", reject);
    sent.end(body);
  });
}
