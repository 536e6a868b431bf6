/** A refusal to start: its text tells the person at the terminal what is wrong and what to do. */
export class StartError extends Error {
  forPerson = true;
}
