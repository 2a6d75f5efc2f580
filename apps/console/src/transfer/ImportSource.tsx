import { useState } from 'react'
import { Button, DropZone, FileTrigger, Text } from 'react-aria-components'
import type { Resource } from '../resources/resource.ts'
import { readSource, type Source } from './source.ts'

interface Props {
  resource: Resource
  onRead: (source: Source) => void
}

/** Takes a file by choice or by drop, and says what is wrong with one that cannot be read. */
export function ImportSource({ resource, onRead }: Props) {
  const [fault, setFault] = useState<string>()
  const fields = resource.createFields
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      onRead(await readSource(file, fields))
    } catch (error) {
      setFault(`${file.name} cannot be imported. ${(error as Error).message}.`)
    }
  }
  return (
    <>
      <p>
        CSV whose first line names the fields, a JSON array, or one JSON object a line. Fields:{' '}
        {fields.map(({ name, isRequired }, index) => (
          <span key={name}>
            {index > 0 && ', '}
            <code>{name}</code>
            {!isRequired && ' (optional)'}
          </span>
        ))}
        .
      </p>
      {fault !== undefined && (
        <p role="alert" className="failed-line">
          {fault}
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
