export declare function freePort(): Promise<number>;
export declare function isPortFree(port: number, host?: string): Promise<boolean>;
