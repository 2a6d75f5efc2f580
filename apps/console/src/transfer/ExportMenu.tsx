import { useState } from 'react'
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import type { Resource } from '../resources/resource.ts'
import { notify } from '../shell/notices.ts'
import type { View } from '../table/view.ts'
import { counted, wordsOf } from '../ui/words.ts'
import { type ExportForm, exportRows } from './export.ts'

interface Props {
  resource: Resource
  view: View
}

/** Writes what the filters let through, on all pages, into a file. */
export function ExportMenu({ resource, view }: Props) {
  const [isRunning, setRunning] = useState(false)
  const run = async (form: ExportForm) => {
    if (isRunning) return
    setRunning(true)
    try {
      notify('done', `${counted(await exportRows(resource, view, form), resource.many)} exported`)
    } catch (error) {
      notify('failed', `The export failed. ${wordsOf(error)}`)
    } finally {
      setRunning(false)
    }
  }
  return (
    <MenuTrigger>
      <Button className="button">{isRunning ? 'Exporting…' : 'Export'}</Button>
      <Popover className="popover" placement="bottom end">
        <Menu aria-label="Export as" onAction={(key) => void run(key as ExportForm)}>
          <MenuItem id="csv">CSV, for spreadsheets</MenuItem>
          <MenuItem id="ndjson">NDJSON, one record a line</MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}
