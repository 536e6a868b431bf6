export type Settings = {
  readonly databaseUrl: string | null;
  readonly demo: boolean;
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly dataDir: string;
};
export declare function readSettings(root: string, env: Readonly<Record<string, string | undefined>>): Settings;
export declare function isLoopbackUrl(url: string): boolean;
export declare function readSecret(dataDir: string, env: Readonly<Record<string, string | undefined>>): string;
export declare function ensureDataDir(dataDir: string): void;
