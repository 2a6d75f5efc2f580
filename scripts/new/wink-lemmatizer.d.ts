declare module 'wink-lemmatizer' {
  /** The singular of a plural noun of WordNet; any other word as it is. */
  const lemmatizer: { noun: (word: string) => string }
  export default lemmatizer
}
