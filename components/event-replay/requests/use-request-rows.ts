"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { listEventReplay } from "@/components/api/replay";
import type { ReplayListItem } from "@/server/contracts/replay-list";
import { type RequestsView, requestsFilter, splitNew } from "./requests-view";

const PAGE_SIZE = 25;
/** The server's most for one answer: beyond it the arrivals are counted as "that many or more". */
const MOST = 200;
const BUSY_MS = 5_000;
const IDLE_MS = 15_000;

const isMoving = (item: ReplayListItem): boolean =>
  item.status === "PLANNING" || item.status === "INSTALLING_BARRIER" || item.status === "RUNNING";

/**
 * The list as it was when it was opened: later requests stay out of its first page, so nothing moves under the pointer; they
 * are counted, and `refresh` takes them in. States and progress of the rows shown stay current.
 */
export function useRequestRows(view: RequestsView, hostId: string) {
  const filter = requestsFilter(view, hostId);
  const [epoch, setEpoch] = useState(0);
  const [room, setRoom] = useState(0);
  const [opened, setOpened] = useState<{ of: string; asOf: string }>();
  const of = JSON.stringify([filter, epoch]);
  const first = view.cursor === undefined;
  const pageSize = first ? Math.min(MOST, PAGE_SIZE + room) : PAGE_SIZE;

  const query = useQuery({
    ...listEventReplay({ ...filter, pageSize, ...(view.cursor ? { cursor: view.cursor } : {}) }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(isMoving) ? BUSY_MS : IDLE_MS),
  });
  const { data, isFetchedAfterMount, isPlaceholderData } = query;
  const asOf = data?.asOf;
  const openedAt = opened?.of === of ? opened.asOf : undefined;

  // An answer kept from an earlier visit is older than this opening; the first one read now is where it begins.
  useEffect(() => {
    if (asOf === undefined || !isFetchedAfterMount || isPlaceholderData || openedAt !== undefined) return;
    setOpened({ of, asOf });
  }, [asOf, isFetchedAfterMount, isPlaceholderData, openedAt, of]);

  const { shown, newer } = splitNew(data?.items ?? [], first ? openedAt : undefined, PAGE_SIZE);
  // Room for the arrivals beside a whole page of the rows that were there.
  useEffect(() => {
    setRoom(newer);
  }, [newer]);

  return {
    query,
    data,
    items: shown,
    newer,
    newerCapped: newer > MOST - PAGE_SIZE,
    /** Requests of the list without the arrivals. */
    total: Math.max(0, (data?.total ?? 0) - newer),
    refresh: () => {
      setRoom(0);
      setEpoch((n) => n + 1);
      void query.refetch();
    },
  };
}
