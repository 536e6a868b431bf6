/** The environment is unusable; `message` names the setting and what to do, never a value. */
export class ConfigError extends Error {
  constructor(
    readonly setting: string,
    message: string,
  ) {
    super(message);
    this.name = "ConfigError";
  }
}
