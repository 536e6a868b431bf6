"use client";
import { IconButton } from "./button";
import { rememberPreference } from "./clock";

/**
 * Switches between dark and light and remembers it in a cookie, which the server puts on `<html>`: no script runs
 * before the first paint and nothing flashes. Without the cookie the system setting rules.
 */
export function ThemeSwitch() {
  return (
    <IconButton
      icon="sun"
      label="Switch theme"
      onClick={() => {
        const root = document.documentElement;
        const dark = root.dataset.theme
          ? root.dataset.theme === "dark"
          : matchMedia("(prefers-color-scheme: dark)").matches;
        root.dataset.theme = dark ? "light" : "dark";
        rememberPreference("ea_theme", root.dataset.theme);
      }}
    />
  );
}
