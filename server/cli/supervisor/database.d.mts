export declare const DATABASE: string;
export declare function ensureDatabase(adminUrl: string): Promise<void>;
