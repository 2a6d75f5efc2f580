import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Resource } from '../resources/resource.ts'
import { refresh } from '../table/queries.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount, ROWS } from '../ui/format.ts'
import { discardImport } from './end.ts'
import { unsent } from './running.ts'
import { readSaved, unfinishedImport } from './saved.ts'
import { useIsImporting } from './use-import.ts'

interface Props {
  resource: Resource
  onContinue: () => void
}

/** The import of a noun that this browser has not finished, on the noun's page. */
export function UnfinishedImport({ resource, onContinue }: Props): ReactNode {
  const { noun } = resource
  const isImporting = useIsImporting(noun)
  const { data } = useQuery(unfinishedImport(noun))
  if (!data || isImporting) return null
  const { file, failed } = data
  const left = unsent(data)
  const discard = async () => {
    const saved = await readSaved(noun)
    if (saved !== undefined) await discardImport(resource, saved)
    await refresh(resource)
  }
  return (
    <p role="status" className="row note unfinished">
      <span>
        The import of <b translate="no">{file.name}</b> is not finished
        {left > 0 && `: ${formatCount(left, ROWS)} not sent`}
        {left === 0 && `: ${formatCount(failed.length, ROWS)} failed`}.
      </span>
      <Button className="small" onPress={onContinue}>
        {left === 0 ? 'Show…' : 'Continue…'}
      </Button>
      <Button className="small" onPress={() => void discard()}>
        Discard the rest
      </Button>
    </p>
  )
}
