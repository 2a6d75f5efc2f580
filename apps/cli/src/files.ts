import { FORMATS, type Format } from '@resource/import'
import { Option } from 'commander'
import { nouns, proceduresOf } from './procedures.ts'

/** The types that have one of these procedures. */
export function typeOption(verbs: string[]): Option {
  return new Option('--type <noun>', 'type of records')
    .choices(nouns.filter((noun) => verbs.some((verb) => proceduresOf(noun)[verb] !== undefined)))
    .makeOptionMandatory()
}

export function formatOf(file: string): Format | undefined {
  const extension = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase()
  return extension === 'jsonl' ? 'ndjson' : FORMATS.find((format) => format === extension)
}
