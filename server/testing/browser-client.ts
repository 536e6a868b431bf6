/** A browser's part of HTTP without a browser: cookies of each origin, redirects, forms. Enough to sign in by a provider's pages. */
export class BrowserClient {
  private readonly jar = new Map<string, Map<string, string>>();

  /** One request; redirects are not followed. */
  async send(address: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const { host } = new URL(address);
    const cookies = this.jar.get(host) ?? new Map<string, string>();
    this.jar.set(host, cookies);
    const response = await fetch(address, {
      redirect: "manual",
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(form ? { "content-type": "application/x-www-form-urlencoded" } : {}),
      },
      ...(form ? { method: "POST", body: new URLSearchParams(form) } : {}),
    });
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    return response;
  }

  /** Follows redirects until an answer that is none, or one that leads to `until`; returns where it ended. */
  async follow(
    address: string,
    until?: (url: URL) => boolean,
  ): Promise<{ readonly url: URL; readonly response: Response }> {
    let url = new URL(address);
    for (let hops = 0; hops < 20; hops++) {
      const response = await this.send(url.href);
      const location = response.headers.get("location");
      if (location === null) return { url, response };
      url = new URL(location, url);
      if (until?.(url)) return { url, response };
    }
    throw new Error("redirects without end");
  }

  cookieHeader(address: string): string {
    return [...(this.jar.get(new URL(address).host) ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";");
  const at = pair.indexOf("=");
  const name = pair.slice(0, at).trim();
  const gone = attributes.some((text) => /^\s*(max-age=0|expires=Thu, 01 Jan 1970)/i.test(text));
  if (gone) cookies.delete(name);
  else cookies.set(name, pair.slice(at + 1).trim());
}
