import "./api-docs.css";
import type { Metadata } from "next";
import { ERRORS } from "@/server/contracts/errors";
import { publishedOperations } from "@/server/operations/openapi";
import { runtime } from "@/server/operations/runtime";

export const metadata: Metadata = { title: "API" };

/** What the OpenAPI document says, for a person: operations, both surfaces, codes. Holds no data of any host. */
export default function ApiDocsPage() {
  const operations = publishedOperations(runtime().config.demo);
  return (
    <main className="docs">
      <h1>Event Admin API</h1>
      <p className="lead">
        Every operation answers on <code>POST /api/event-replay/&lt;operation&gt;</code> (JSON; refusals are RFC 9457
        problem documents) and as JSON-RPC 2.0 on <code>POST /portal/query</code> or <code>POST /portal/command</code>.
        Events are appended by <code>POST /api/events</code>. Send a bearer token, or use the console&apos;s session.
        The schemas are in <a href="/api/openapi.json">openapi.json</a>.
      </p>
      <h2>Operations</h2>
      <div className="tw">
        <table>
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">Path for JSON-RPC</th>
              <th scope="col">What it does</th>
            </tr>
          </thead>
          <tbody>
            {operations.map(({ name, kind, summary, demoOnly }) => (
              <tr key={name} id={name}>
                <td>
                  <code>{name}</code>
                </td>
                <td>/portal/{kind}</td>
                <td>
                  {summary}
                  {demoOnly ? " Demo mode only." : ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>Codes</h2>
      <div className="tw">
        <table>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">Status</th>
              <th scope="col">May be tried again by</th>
              <th scope="col">Means</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(ERRORS).map(([code, { status, retryBy, sentence }]) => (
              <tr key={code} id={code}>
                <td>
                  <code>{code}</code>
                </td>
                <td>{status}</td>
                <td>{retryBy}</td>
                <td>{sentence}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </main>
  );
}
