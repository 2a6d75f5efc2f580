import { useState } from 'react'
import { Button, DropZone, FileTrigger, Text } from 'react-aria-components'
import type { Resource } from '../resources/resource.ts'
import { readSource, type Source } from './source.ts'

interface Props {
  resource: Resource
  onRead: (source: Source) => void
}

/** Lets the user choose or drop a file, and shows an error if the file cannot be read. */
export function ImportSource({ resource, onRead }: Props) {
  const [error, setError] = useState<string>()
  const fields = resource.createFields
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      onRead(await readSource(file, fields))
    } catch (error) {
      setError(`${file.name} cannot be imported. ${(error as Error).message}.`)
    }
  }
  return (
    <>
      <p>
        Use a CSV file whose first line names the fields, a JSON array, or one JSON object per line. Fields:{' '}
        {fields.map(({ name, isRequired }, index) => (
          <span key={name}>
            {index > 0 && ', '}
            <code>{name}</code>
            {!isRequired && ' (optional)'}
          </span>
        ))}
        .
      </p>
      {error !== undefined && (
        <p role="alert" className="failed-line">
          {error}
        </p>
      )}
      <DropZone
        className="drop"
        onDrop={async ({ items }) => {
          const file = items.find((item) => item.kind === 'file')
          await read(await file?.getFile())
        }}
      >
        <Text slot="label">Drop a file here, or</Text>
        <FileTrigger
          acceptedFileTypes={['.csv', '.json', '.ndjson', '.jsonl', 'text/csv', 'application/json']}
          onSelect={(files) => void read(files?.[0])}
        >
          <Button className="button primary">Choose a file</Button>
        </FileTrigger>
      </DropZone>
    </>
  )
}
