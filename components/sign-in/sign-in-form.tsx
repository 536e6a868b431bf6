"use client";
import { type FormEvent, useState } from "react";
import { signInWithPassword, startOrganisationSignIn } from "@/components/api/sign-in";
import { Icon } from "@/components/ui/icon";
import { useReadyMark } from "@/components/ui/ready-mark";

/** What each demo identity may do, in the reader's words; shown in demo mode only. */
const DEMO_USERS = [
  { name: "alice", may: "operate; approves what bob asks" },
  { name: "bob", may: "operate; approves what alice asks" },
  { name: "carol", may: "read only" },
  { name: "dave", may: "operate another host, sees none of this" },
] as const;

const REFUSED = "This name and password do not belong together.";
const UNREACHABLE = "The server did not answer. Nothing was sent twice; try again.";
const WAIT = "Too many attempts. Wait a minute, then try again.";
const PROBLEMS = { refused: REFUSED, wait: WAIT, unreachable: UNREACHABLE } as const;

/** Sign-in: by the organisation's identity provider where one is configured, by a demo identity in demo mode. */
export function SignInForm({
  demo,
  organisation,
  back,
  notice,
  refused,
}: {
  demo: boolean;
  organisation: boolean;
  back: string;
  notice?: string | undefined;
  /** Why the sign-in that led back here did not succeed. */
  refused?: string | undefined;
}) {
  const [name, setName] = useState("alice");
  const [password, setPassword] = useState("alice");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);

  useReadyMark();

  const enter = async (user: string, secret: string) => {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    const result = await signInWithPassword(user, secret);
    if (result === "ok") {
      location.assign(back);
      return;
    }
    setBusy(false);
    setProblem(PROBLEMS[result]);
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter(name.trim(), password);
  };

  const organise = async () => {
    setProblem(undefined);
    const url = await startOrganisationSignIn(back);
    if (url) location.assign(url);
    else setProblem(UNREACHABLE);
  };

  return (
    <>
      {refused ? (
        <p className="note failed org" role="alert">
          <Icon name="info" />
          <span>{refused}</span>
        </p>
      ) : null}
      {notice && !refused ? (
        <p className="note held org" role="status">
          <Icon name="info" />
          <span>{notice}</span>
        </p>
      ) : null}
      {organisation ? (
        <button className="btn w org" type="button" onClick={organise}>
          Continue with your organisation
        </button>
      ) : null}
      {demo ? (
        <>
          <div className="or">
            <span>Demo mode, embedded database</span>
          </div>
          <form onSubmit={submit} noValidate>
            <div className="field">
              <label htmlFor="user">User</label>
              <input
                className="in"
                id="user"
                name="username"
                autoComplete="username"
                autoCapitalize="none"
                spellCheck={false}
                maxLength={64}
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            </div>
            <div className="field">
              <label htmlFor="password">Password</label>
              <input
                className={problem ? "in bad" : "in"}
                id="password"
                name="password"
                type="password"
                autoComplete="current-password"
                maxLength={128}
                value={password}
                aria-describedby={problem ? "password-problem" : "password-hint"}
                aria-invalid={problem ? true : undefined}
                onChange={(event) => setPassword(event.target.value)}
              />
              {problem ? (
                <span className="err" id="password-problem" role="alert">
                  {problem}
                </span>
              ) : (
                <span className="hint" id="password-hint">
                  In demo mode the password is the name.
                </span>
              )}
            </div>
            <button className="btn p w" type="submit" aria-disabled={busy}>
              {busy ? "Signing in" : `Sign in${name.trim() ? ` as ${name.trim()}` : ""}`}
            </button>
          </form>
          <table className="tight">
            <caption className="vh">Demo users</caption>
            <thead>
              <tr>
                <th>Demo user</th>
                <th>May</th>
              </tr>
            </thead>
            <tbody>
              {DEMO_USERS.map((u) => (
                <tr key={u.name}>
                  <td>
                    <button
                      className="link"
                      type="button"
                      title={`Sign in as ${u.name}`}
                      onClick={() => {
                        setName(u.name);
                        setPassword(u.name);
                        void enter(u.name, u.name);
                      }}
                    >
                      {u.name}
                    </button>
                  </td>
                  <td className="m">{u.may}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="hint">To try an approval alone, open a private window and sign in there as bob.</p>
        </>
      ) : problem ? (
        <p className="err" role="alert">
          {problem}
        </p>
      ) : null}
    </>
  );
}
