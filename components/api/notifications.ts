import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  GetNotificationResponse,
  GetUnreadNotificationCountResponse,
  getNotificationRequest,
  MarkFailureNotificationsReadResponse,
} from "@/server/contracts/notifications";
import { callOperation } from "./call-operation";

export type NotificationFilter = z.input<typeof getNotificationRequest>;

export const getNotifications = (filter: NotificationFilter) =>
  queryOptions({
    queryKey: ["getNotification", filter],
    queryFn: ({ signal }) => callOperation<GetNotificationResponse>("getNotification", filter, signal),
    refetchInterval: 15_000,
  });

export const getUnreadNotificationCount = (hostId: string) =>
  queryOptions({
    queryKey: ["getUnreadNotificationCount", hostId],
    queryFn: ({ signal }) =>
      callOperation<GetUnreadNotificationCountResponse>("getUnreadNotificationCount", { hostId }, signal),
    refetchInterval: 30_000,
  });

/** Marks the viewer's unread failures as read; repeats nothing and reads the counts again afterwards. */
export function useMarkFailureNotificationsRead(hostId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callOperation<MarkFailureNotificationsReadResponse>("markFailureNotificationsRead", { hostId }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["getNotification"] }),
        client.invalidateQueries({ queryKey: ["getUnreadNotificationCount"] }),
      ]),
  });
}
