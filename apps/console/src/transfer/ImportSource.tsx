import { type ReactNode, useState } from 'react'
import { Button, DropZone, FileTrigger, Text } from 'react-aria-components'
import type { Resource } from '../resources/resource.ts'
import { FailedLine } from '../ui/FailedLine.tsx'
import { readTable, type Table } from './table.ts'

/** A file and its contents. */
export interface Source {
  file: File
  table: Table
}

interface Props {
  resource: Resource
  /** Separator of the cells of a CSV file, if it is known. */
  separator?: string | undefined
  onRead: (source: Source) => void
  children?: ReactNode
}

/** Lets the user choose or drop a file, and shows an error if the file cannot be read. */
export function ImportSource({ resource, separator, onRead, children }: Props) {
  const [error, setError] = useState<string>()
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      onRead({ file, table: await readTable(resource, file, separator) })
    } catch (error) {
      setError(`${file.name} cannot be imported. ${(error as Error).message}.`)
    }
  }
  return (
    <>
      {children}
      <p>
        Use a CSV file whose first line names the columns, a JSON array, or one JSON object per line. Fields:{' '}
        {resource.createFields.map(({ name, isRequired }, index) => (
          <span key={name}>
            {index > 0 && ', '}
            <code translate="no">{name}</code>
            {!isRequired && ' (optional)'}
          </span>
        ))}
        . With <code translate="no">id</code>, rows can update existing {resource.many}.
      </p>
      {error !== undefined && <FailedLine>{error}</FailedLine>}
      <DropZone
        className="drop"
        onDrop={async ({ items }) => {
          const file = items.find((item) => item.kind === 'file')
          await read(await file?.getFile())
        }}
      >
        <Text slot="label">Drop a file here, or</Text>
        <FileTrigger
          acceptedFileTypes={['.csv', '.tsv', '.json', '.ndjson', '.jsonl', 'text/csv', 'application/json']}
          onSelect={(files) => void read(files?.[0])}
        >
          <Button className="button primary">Choose a file…</Button>
        </FileTrigger>
      </DropZone>
    </>
  )
}
