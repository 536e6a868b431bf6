import {
  markFailureNotificationsRead as markReadContract,
  getNotification as notificationContract,
  getUnreadNotificationCount as unreadContract,
} from "@/server/contracts/notifications";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { getNotification } from "./get-notification";
import { getUnreadNotificationCount, markFailureNotificationsRead } from "./unread-notifications";

/** The old notification page and its badge, as published. */
export const notificationOperations: readonly BoundOperation<ReplayContext>[] = [
  bindOperation(notificationContract, getNotification),
  bindOperation(unreadContract, getUnreadNotificationCount),
  bindOperation(markReadContract, markFailureNotificationsRead),
];
