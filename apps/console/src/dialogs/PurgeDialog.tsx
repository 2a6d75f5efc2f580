import { useState } from 'react'
import { Form, Input, Label, TextField } from 'react-aria-components'
import type { Purge, Resource } from '../resources/resource.ts'
import { refresh, useCount } from '../table/rows.ts'
import { Button } from '../ui/Button.tsx'
import { errorMessage, formatCount, isUnanswered } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'

interface Props {
  resource: Resource
  purge: Purge
  onClose: () => void
}

/** Deletes all records of a kind after the user has typed their number. */
export function PurgeDialog({ resource, purge, onClose }: Props) {
  const query = useCount(resource, purge.filter)
  const { data: count, refetch } = query
  const [typed, setTyped] = useState('')
  const [isRunning, setRunning] = useState(false)
  const [hasGrown, setGrown] = useState(false)
  const isOpen = useIsMounted()
  const words = `delete ${count}`
  const isTyped = typed.trim() === words
  const kind = (number: number) =>
    formatCount(number, { one: `${purge.which} ${resource.one}`, many: `${purge.which} ${resource.many}` })

  const run = async () => {
    setRunning(true)
    // The user confirmed this number only.
    const { data: now, error } = await refetch()
    if (error !== null) notify('failed', `Nothing was deleted. ${errorMessage(error)}`)
    else if (now === count) await send()
    setGrown(error === null && now !== count)
    setRunning(false)
  }

  const send = async () => {
    try {
      const { removed } = await purge.send()
      notify('done', `${kind(removed)} deleted`)
      if (isOpen.current) onClose()
    } catch (error) {
      const what = isUnanswered(error) ? 'The result is unknown' : 'The deletion failed'
      notify('failed', `${what}. ${errorMessage(error)}`)
    }
    await refresh(resource)
  }

  return (
    <ModalDialog title={`Delete all ${purge.which} ${resource.many}?`} role="alertdialog" onClose={onClose}>
      <Loaded
        query={query}
        title={`The ${resource.many} could not be counted`}
        waiting={<p role="status">Counting…</p>}
      >
        {(count) =>
          count === 0 ? (
            <p>
              There are no {purge.which} {resource.many} to delete.
            </p>
          ) : (
            <Form
              onSubmit={(event) => {
                event.preventDefault()
                if (isTyped && !isRunning) void run()
              }}
            >
              {hasGrown && (
                <p role="alert" className="failed-line">
                  The number of {resource.many} has changed. Nothing was deleted.
                </p>
              )}
              <p>
                <strong>{kind(count)}</strong> will be deleted, on all pages and regardless of filters. You cannot undo
                this.
              </p>
              <TextField className="field" value={typed} onChange={setTyped} autoComplete="off" autoFocus>
                <Label className="label">
                  Type <code translate="no">{words}</code> to confirm
                </Label>
                <Input translate="no" />
              </TextField>
              <footer>
                <Button onPress={onClose}>Cancel</Button>
                <Button className="button danger" type="submit" isDisabled={!isTyped || isRunning}>
                  {isRunning ? 'Deleting…' : `Delete ${kind(count)}`}
                </Button>
              </footer>
            </Form>
          )
        }
      </Loaded>
    </ModalDialog>
  )
}
