declare module 'jq-web' {
  interface Jq {
    /** @throws an error with the message of jq in `stderr` */
    raw(json: string, filter: string, flags: string[]): string | undefined
  }
  const jq: Promise<Jq>
  export default jq
}
