import pg from "pg";

/** What one table is made of, in the database's own words, so that two databases compare by text. */
export type TableShape = {
  /** Column → type, nullability, default or identity. */
  readonly columns: Readonly<Record<string, string>>;
  /** Constraint → definition; NOT NULL is told with the column. */
  readonly constraints: Readonly<Record<string, string>>;
  /** Index → definition; indexes behind a constraint are told with it. */
  readonly indexes: Readonly<Record<string, string>>;
  /** Trigger → definition and whether it fires always. */
  readonly triggers: Readonly<Record<string, string>>;
};

export type Catalog = {
  readonly tables: Readonly<Record<string, TableShape>>;
  /** Trigger function → digest of its body, settings and whose rights it runs with. */
  readonly functions: Readonly<Record<string, string>>;
  /** Group role → table → what it may do there. A role that the cluster doesn't have is absent. */
  readonly grants: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

/** The roles beside the owner. Whether they exist is the deployment's decision; what they may do is ours (grants.sql). */
export const GROUP_ROLES = ["event_admin_web", "event_admin_projector", "event_admin_read"] as const;

const COLUMNS = `
  SELECT c.relname AS "table", a.attname AS name,
         format_type(a.atttypid, a.atttypmod)
           || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
           || CASE WHEN a.attidentity <> '' THEN ' identity' ELSE '' END
           || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') AS definition
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND c.relnamespace = to_regnamespace('public')
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relname = ANY ($1)`;

const CONSTRAINTS = `
  SELECT c.relname AS "table", k.conname AS name,
         pg_get_constraintdef(k.oid) || CASE WHEN k.convalidated THEN '' ELSE ' not validated' END AS definition
    FROM pg_constraint k
    JOIN pg_class c ON c.oid = k.conrelid AND c.relnamespace = to_regnamespace('public')
   WHERE k.contype IN ('p', 'u', 'c', 'f') AND c.relname = ANY ($1)`;

const INDEXES = `
  SELECT c.relname AS "table", i.relname AS name,
         pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' invalid' END AS definition
    FROM pg_index x
    JOIN pg_class c ON c.oid = x.indrelid AND c.relnamespace = to_regnamespace('public')
    JOIN pg_class i ON i.oid = x.indexrelid
   WHERE c.relname = ANY ($1)
     AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u'))`;

const TRIGGERS = `
  SELECT c.relname AS "table", g.tgname AS name,
         pg_get_triggerdef(g.oid) || CASE g.tgenabled WHEN 'A' THEN ' always' WHEN 'O' THEN '' ELSE ' disabled' END AS definition
    FROM pg_trigger g
    JOIN pg_class c ON c.oid = g.tgrelid AND c.relnamespace = to_regnamespace('public')
   WHERE NOT g.tgisinternal AND c.relname = ANY ($1)`;

const FUNCTIONS = `
  SELECT p.proname AS name, encode(sha256(convert_to(p.prosrc || coalesce(array_to_string(p.proconfig, ';'), '')
           || CASE WHEN p.prosecdef THEN ';definer' ELSE '' END, 'UTF8')), 'hex') AS definition
    FROM pg_proc p
   WHERE p.pronamespace = to_regnamespace('public') AND p.proname LIKE 'ea\\_%'`;

// Bytes of events: every bytea column, and the store's JSON. A grant on the table includes its columns.
const PUBLIC_GRANTS = `
  SELECT DISTINCT c.relname AS "table", a.attname AS name, g.privilege_type AS definition
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     AND (a.atttypid = 'bytea'::regtype OR (c.relname = 'event_store_t' AND a.attname IN ('payload', 'metadata')))
    CROSS JOIN LATERAL (SELECT * FROM aclexplode(c.relacl) UNION ALL SELECT * FROM aclexplode(a.attacl)) g
   WHERE c.relnamespace = to_regnamespace('public') AND c.relname = ANY ($1) AND g.grantee = 0
     AND g.privilege_type IN ('SELECT', 'UPDATE')
   ORDER BY 1, 2, 3`;

// Table-wide rights, then rights on single columns in the columns' order.
const GRANTS = `
  WITH given AS (
    SELECT c.relname, 0 AS attnum, NULL::text AS attname, x.grantee, x.privilege_type
      FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) x
     WHERE c.relnamespace = to_regnamespace('public') AND c.relname = ANY ($1)
    UNION ALL
    SELECT c.relname, a.attnum, a.attname, x.grantee, x.privilege_type
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     CROSS JOIN LATERAL aclexplode(a.attacl) x
     WHERE c.relnamespace = to_regnamespace('public') AND c.relname = ANY ($1)
  ), lists AS (
    SELECT relname, grantee, privilege_type,
           privilege_type || coalesce(' (' || string_agg(attname, ', ' ORDER BY attname COLLATE "C") || ')', '') AS text
      FROM given GROUP BY relname, grantee, privilege_type, attnum = 0
  )
  SELECT r.rolname AS role, l.relname AS "table", string_agg(l.text, ', ' ORDER BY l.text COLLATE "C") AS definition
    FROM lists l JOIN pg_catalog.pg_roles r ON r.oid = l.grantee
   WHERE r.rolname = ANY ($2) GROUP BY 1, 2`;

const ROLES = "SELECT rolname AS name FROM pg_catalog.pg_roles WHERE rolname = ANY ($1)";

type Part = { table: string; name: string; definition: string };

/**
 * Reads the catalog of the named tables of schema public; an absent table is absent in the answer. The database writes names
 * as the session's search_path makes them visible, so it is public while this reads, whatever the role's own is.
 */
export async function readCatalog(pool: pg.Pool, tables: readonly string[]): Promise<Catalog> {
  return await withPublicPath(pool, (client) => read(client, tables));
}

async function withPublicPath<T>(db: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  // One client instead of a pool has its own transaction open: the path then ends with that.
  if (!(db instanceof pg.Pool)) {
    const client = db as unknown as pg.ClientBase;
    await client.query("SET LOCAL search_path = public");
    return await work(client);
  }
  const client = await db.connect();
  let broken = true;
  try {
    await client.query("BEGIN READ ONLY; SET LOCAL search_path = public");
    const result = await work(client);
    await client.query("COMMIT");
    broken = false;
    return result;
  } finally {
    client.release(broken);
  }
}

async function read(client: pg.ClientBase, tables: readonly string[]): Promise<Catalog> {
  const parts = async (text: string) => (await client.query<Part>(text, [tables])).rows;
  const columns = await parts(COLUMNS);
  const constraints = await parts(CONSTRAINTS);
  const indexes = await parts(INDEXES);
  const triggers = await parts(TRIGGERS);
  const functions = (await client.query<Part>(FUNCTIONS)).rows;
  const present = [...new Set(columns.map((row) => row.table))].sort(byCodeUnit);
  return {
    tables: Object.fromEntries(
      present.map((table) => [
        table,
        {
          columns: named(columns, table),
          constraints: named(constraints, table),
          indexes: named(indexes, table),
          triggers: named(triggers, table),
        },
      ]),
    ),
    functions: sorted(functions),
    grants: await readGrants(client, tables),
  };
}

async function readGrants(client: pg.ClientBase, tables: readonly string[]): Promise<Catalog["grants"]> {
  const roles = (await client.query<{ name: string }>(ROLES, [GROUP_ROLES])).rows;
  const grants = (
    await client.query<{ role: string; table: string; definition: string }>(GRANTS, [tables, GROUP_ROLES])
  ).rows;
  const ofRole = (role: string) =>
    sorted(grants.filter((g) => g.role === role).map(({ table, definition }) => ({ table, name: table, definition })));
  const present = roles.map((role) => role.name).sort(byCodeUnit);
  return Object.fromEntries(present.map((role) => [role, ofRole(role)]));
}

/** What everybody may do with event bytes of the named tables, one sentence each; nothing, unless somebody granted it (ER-PAY-11). */
export async function publicGrantsOnBytes(pool: pg.Pool, tables: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<Part>(PUBLIC_GRANTS, [tables]);
  return rows.map((row) => `PUBLIC may ${row.definition} ${row.table}.${row.name}`);
}

/** Every table of schema public: what a manifest of a freshly migrated database covers. */
export async function publicTables(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = to_regnamespace('public') ORDER BY relname COLLATE \"C\"",
  );
  return rows.map((row) => row.name);
}

const named = (parts: readonly Part[], table: string) => sorted(parts.filter((part) => part.table === table));

function sorted(parts: readonly Part[]): Record<string, string> {
  return Object.fromEntries(
    parts.map((part) => [part.name, part.definition] as const).sort((a, b) => byCodeUnit(a[0], b[0])),
  );
}

/** Code unit order, never a locale's: the manifest is the same file on every machine. */
const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
