import pg from "pg";

/**
 * Wakes work when a channel is notified. LISTEN is an accelerator only: every wait also ends after `pollMs`, and a lost
 * listener reconnects while polling goes on, so a connection that dies silently costs latency and never events (case O23).
 */
export class WakeUp {
  private client: pg.Client | null = null;
  private waiters: (() => void)[] = [];
  private pending = false;
  private stopped = false;
  private reconnectTimer: NodeJS.Timeout | undefined;
  private connecting: Promise<void> = Promise.resolve();

  constructor(
    private readonly databaseUrl: string,
    /** A plain identifier of ours. */
    private readonly channel: string,
    private readonly pollMs: number,
    private readonly reconnectMs: number = 1_000,
  ) {}

  get listening(): boolean {
    return this.client !== null;
  }

  async start(): Promise<void> {
    this.connecting = this.connect();
    await this.connecting;
  }

  /** Resolves at the next notification, at once when one came since the last wait, or after `pollMs` (or `atMostMs`). */
  async wait(atMostMs: number = this.pollMs): Promise<void> {
    if (this.pending || this.stopped) {
      this.pending = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, Math.min(atMostMs, this.pollMs));
      const waiters = this.waiters;
      function done() {
        clearTimeout(timer);
        const at = waiters.indexOf(done);
        if (at >= 0) waiters.splice(at, 1);
        resolve();
      }
      this.waiters.push(done);
    });
  }

  /** Wakes one waiter; without one, the next wait returns at once. */
  signal(): void {
    const wake = this.waiters[0];
    if (wake) wake();
    else this.pending = true;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.reconnectTimer);
    for (const wake of [...this.waiters]) wake();
    await this.connecting;
    const client = this.client;
    this.client = null;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    if (this.stopped) return;
    const client = new pg.Client({
      connectionString: this.databaseUrl,
      application_name: "event-admin:live-listener",
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    // Registered before connecting: an error event without a listener would end the process.
    client.on("error", () => this.lost(client));
    client.on("end", () => this.lost(client));
    client.on("notification", () => this.signal());
    try {
      await client.connect();
      await client.query(`LISTEN ${this.channel}`);
      // stop() may have come meanwhile; it waits for us and then ends this client.
      this.client = client;
      this.signal();
    } catch {
      client.removeAllListeners("end");
      await client.end().catch(() => undefined);
      this.retryLater();
    }
  }

  private lost(client: pg.Client): void {
    if (this.client !== client) return;
    this.client = null;
    this.retryLater();
  }

  private retryLater(): void {
    if (this.stopped) return;
    clearTimeout(this.reconnectTimer);
    this.reconnectTimer = setTimeout(() => {
      this.connecting = this.connect();
    }, this.reconnectMs);
  }
}
