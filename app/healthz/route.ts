export const dynamic = "force-dynamic";

/** The process answers. Says nothing of the database: a restart would not bring that back. */
export const GET = () => Response.json({ status: "UP" }, { headers: { "cache-control": "no-store" } });
