import { z } from "zod";
import { APPEND_ERRORS, APPEND_EVENTS, appendEventsRequest, appendEventsResponse } from "@/server/contracts/append";
import { ERRORS, type ErrorCode } from "@/server/contracts/errors";
import { COMMON_ERRORS, type OperationContract } from "@/server/contracts/operation";
import { contracts } from "./registry";

type Json = Record<string, unknown>;

/**
 * OpenAPI 3.1 of the REST surface, from the contracts alone. `demo` adds the operations that exist in demo mode only. The
 * committed copy (with them) is what `npm run openapi -- --check` compares.
 */
export function openApiDocument(demo: boolean): Json {
  const published = publishedOperations(demo);
  return {
    openapi: "3.1.0",
    info: {
      title: "Event Admin",
      version: "0.1.0",
      summary: "The replay authority for event-driven systems.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ bearer: [] }, { session: [] }],
    paths: {
      ...eventsPath(),
      ...Object.fromEntries(published.map((contract) => [pathOf(contract), { post: post(contract) }])),
    },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "next-auth.session-token",
          description: "Encrypted session of the console; needs Origin of this site and a JSON body.",
        },
      },
      schemas: { Problem: PROBLEM },
    },
  };
}

/** Contracts in order of name; those of demo mode only with `demo`. */
export function publishedOperations(demo: boolean): readonly OperationContract[] {
  return contracts().filter((contract) => demo || !contract.demoOnly);
}

function pathOf(contract: OperationContract): string {
  return `/api/event-replay/${contract.name}`;
}

function post(contract: OperationContract): Json {
  return {
    operationId: contract.name,
    summary: contract.summary,
    tags: [contract.kind],
    "x-json-rpc": {
      path: contract.kind === "query" ? "/portal/query" : "/portal/command",
      method: `lightapi.net/user/${contract.name}/0.1.0`,
    },
    ...(contract.demoOnly ? { "x-demo-only": true } : {}),
    requestBody: { required: true, content: { "application/json": { schema: schemaOf(contract.request, "input") } } },
    responses: {
      "200": {
        description: "Done.",
        content: { "application/json": { schema: schemaOf(contract.response, "output") } },
      },
      ...problems([...COMMON_ERRORS, ...contract.errors]),
    },
  };
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  return json;
}

/** One response a status; its codes are named in the description and in `x-codes`. */
function problems(codes: readonly ErrorCode[]): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...new Set(codes)].sort()) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      {
        description: list.map((code) => `${code}: ${ERRORS[code].sentence}`).join(" "),
        "x-codes": list,
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
}

const fieldError: Json = {
  type: "object",
  properties: {
    field: { type: "string", description: "JSON pointer" },
    rule: { type: "string" },
    message: { type: "string" },
    member: { type: "integer" },
    line: { type: "integer" },
  },
  required: ["field", "rule"],
};

const PROBLEM: Json = {
  type: "object",
  description: "RFC 9457 problem document.",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", enum: Object.keys(ERRORS) },
    retryable: { type: "boolean" },
    details: {
      type: "object",
      properties: {
        errors: { type: "array", maxItems: 50, items: fieldError },
        failureIds: { type: "array", items: { type: "string" } },
        scopes: { type: "array", items: { type: "string" } },
        missing: {
          type: "array",
          items: {
            type: "object",
            properties: {
              scope: { type: "string" },
              version: { type: "integer" },
              revision: { type: "integer" },
              transactionId: { type: "string" },
            },
            required: ["scope"],
          },
        },
      },
    },
    requestId: { type: "string", format: "uuid" },
  },
  required: ["type", "title", "status", "detail", "code", "retryable", "details", "requestId"],
};

/** Not an operation of the registry: its body is read byte for byte. */
function eventsPath(): Json {
  return {
    "/api/events": {
      post: {
        operationId: APPEND_EVENTS,
        summary: "Append one complete transaction of CloudEvents.",
        tags: ["command"],
        requestBody: {
          required: true,
          content: { "application/json": { schema: schemaOf(appendEventsRequest, "input") } },
        },
        responses: {
          "200": {
            description: "Stored, or stored before.",
            content: { "application/json": { schema: schemaOf(appendEventsResponse, "output") } },
          },
          ...problems([...COMMON_ERRORS, ...APPEND_ERRORS]),
        },
      },
    },
  };
}
