/** A file that cannot be imported, with a message for users. */
export class ImportError extends Error {}
