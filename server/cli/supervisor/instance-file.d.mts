export type InstanceFile = {
  readonly pid: number;
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly demo: boolean;
  readonly secret: string;
};
export declare function writeInstance(dataDir: string, instance: Omit<InstanceFile, "pid">): void;
export declare function readInstance(dataDir: string): InstanceFile | null;
export declare function removeInstance(dataDir: string): void;
