import dgram from "node:dgram";
import http from "node:http";
import net from "node:net";
import { beforeAll, expect, test } from "vitest";
import type { EventHandler } from "@/server/event-replay/projection/domain/types";
import { testDatabase } from "./database";
import { compareVariants } from "./handler-harness";
import { LEDGER_DDL, ledgerProjection } from "./ledger-projection";
import { hostOfPartition, putOutbox } from "./outbox";
import { waitingTransactions } from "./source-transactions";

const db = testDatabase();
beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

test("ER-EXE-10 a handler that opens a TCP, UDP or HTTP socket, or fetches, is refused for exactly that", async () => {
  const hostId = hostOfPartition(3);
  const account = { type: "AccountOpenedEvent", aggregateType: "Account", aggregateId: "exe10", version: 1 };
  await putOutbox(db.pool, { hostId, members: [{ ...account, data: { owner: "o" } }] });
  const transactions = await waitingTransactions(db.pool, ledgerProjection(), 3);
  const attempts: readonly (() => unknown)[] = [
    () => net.connect(9, "127.0.0.1"),
    () => dgram.createSocket("udp4"),
    () => http.get("http://127.0.0.1:9/"),
    () => fetch("http://127.0.0.1:9/"),
  ];
  for (const attempt of attempts) {
    const leaky: EventHandler = {
      kind: "statements",
      async handle() {
        await attempt();
        return 1;
      },
    };
    const definition = ledgerProjection({ handlers: { AccountOpenedEvent: leaky } });
    const error = await compareVariants(db.pool, definition, transactions).catch((thrown: unknown) => thrown);
    expect((error as { cause?: unknown }).cause, String(attempt)).toMatchObject({
      message: "a handler may not open a socket",
    });
  }
  await expect(compareVariants(db.pool, ledgerProjection(), transactions)).resolves.toBeDefined();
});
