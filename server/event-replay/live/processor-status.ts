import type pg from "pg";
import type { ProjectionDefinition, SourceProcessor } from "@/server/event-replay/projection/domain/types";
import { newId } from "@/server/platform/ids";

const HEARTBEAT_MS = 5_000;

/**
 * What this process says of itself to health and the console, in one row of its own. Best effort by design: when the database
 * can't be reached the row goes stale, and a stale heartbeat is read as "gone", never as healthy.
 */
export class ProcessorStatus {
  readonly instanceId = newId();
  /** Lanes in trouble and the safe name of the trouble. */
  private readonly trouble = new Map<number | null, string>();
  private timer: NodeJS.Timeout | undefined;
  private written = "";

  constructor(
    private readonly pool: pg.Pool,
    private readonly definition: ProjectionDefinition,
    private readonly source: SourceProcessor,
  ) {}

  async start(): Promise<void> {
    await this.pool.query(
      `INSERT INTO processor_status_t (instance_id, projection_name, consumer_group, source_processor, state)
       VALUES ($1, $2, $3, $4, 'HEALTHY')`,
      [this.instanceId, this.definition.projectionName, this.definition.consumerGroup, this.source],
    );
    // Processes that ended without saying so leave rows behind; a day later nobody needs them.
    await this.pool.query(`DELETE FROM processor_status_t WHERE heartbeat_ts < now() - interval '1 day'`);
    this.timer = setInterval(() => void this.write(), HEARTBEAT_MS);
  }

  healthy(lane: number): void {
    if (this.trouble.delete(lane)) void this.write();
  }

  /** The look for work succeeded: the database is there, and a lane that has none is in no trouble. */
  onlyLanes(withWork: readonly number[]): void {
    let cleared = this.trouble.delete(null);
    for (const lane of [...this.trouble.keys()]) {
      if (lane !== null && !withWork.includes(lane)) cleared = this.trouble.delete(lane) || cleared;
    }
    if (cleared) void this.write();
  }

  retrying(lane: number | null, name: string): void {
    if (this.trouble.get(lane) === name) return;
    this.trouble.set(lane, name);
    void this.write();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.pool
      .query(
        `UPDATE processor_status_t SET state = 'STOPPED', code = NULL, partition_id = NULL, stopped_ts = now(),
                state_since_ts = now(), heartbeat_ts = now() WHERE instance_id = $1`,
        [this.instanceId],
      )
      .catch(() => undefined);
  }

  private async write(): Promise<void> {
    const [lane, code] = [...this.trouble][0] ?? [null, null];
    const changed = `${lane} ${code}` !== this.written;
    this.written = `${lane} ${code}`;
    await this.pool
      .query(
        `UPDATE processor_status_t
            SET state = CASE WHEN $2::varchar IS NULL THEN 'HEALTHY' ELSE 'RETRYING' END, code = $2, partition_id = $3,
                heartbeat_ts = now(), state_since_ts = CASE WHEN $4 THEN now() ELSE state_since_ts END
          WHERE instance_id = $1 AND state <> 'STOPPED'`,
        [this.instanceId, code, lane, changed],
      )
      .catch(() => {
        this.written = "unwritten";
      });
  }
}
