import { Fragment, useId, useState } from 'react'
import { changedBy, merged, type Side, type Versions } from '../conflict/merge.ts'
import type { Column, Resource } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { valueText } from '../resources/value-text.ts'
import { Button } from '../ui/Button.tsx'
import { listed } from '../ui/format.ts'
import { useActor } from './actor.ts'

interface Props {
  resource: Resource
  versions: Versions
  sideOf: (field: string) => Side
  onChoose: (field: string, side: Side) => void
}

/** The versions of a record side by side, and the choice of a value for each field that both users changed. */
export function VersionTable({ resource, versions, sideOf, onChoose }: Props) {
  const { opened, stored, mine } = versions
  const actor = useActor(resource.noun, stored.id, stored.version)
  const [areAllShown, showAll] = useState(false)
  const group = useId()
  const columns = resource.recordColumns.filter(
    ({ kind, field }) => kind !== 'time' && kind !== 'id' && field !== 'version',
  )
  const same = columns.filter(({ field }) => changedBy(versions, field) === undefined)
  const shown = areAllShown ? columns : columns.filter((column) => !same.includes(column))
  const isChoice = columns.some(({ field }) => changedBy(versions, field) === 'both')
  const labelsOf = (some: Column[]) => listed(some.map(({ label }) => label.toLowerCase()))
  const by = (side: Side) => columns.filter(({ field }) => changedBy(versions, field) === side)
  const kept = [
    ...(by('mine').length > 0 ? [`${labelsOf(by('mine'))} from you`] : []),
    ...(by('stored').length > 0 ? [`${labelsOf(by('stored'))} from ${actor ?? 'the stored version'}`] : []),
  ]
  const choice = { versions, sideOf, onChoose }
  const result = merged(versions, columns, sideOf)
  return (
    <>
      <p role="alert" className="soft">
        {mine === undefined
          ? 'Nothing is deleted yet.'
          : `Nothing is lost: ${isChoice ? 'choose a value for each field that both of you changed' : 'no field was changed by both of you'}.`}
      </p>
      <div className="framed">
        <table className="table versions" aria-label="The versions, field by field">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">When you opened it</th>
              <th scope="col">Stored now{actor !== undefined && `, by ${actor}`}</th>
              {mine !== undefined && <th scope="col">Yours</th>}
            </tr>
          </thead>
          <tbody>
            {shown.map((column) => (
              <tr key={column.field}>
                <th scope="row">{column.label}</th>
                <td data-label="Opened" className="soft">
                  <Value column={column} value={opened[column.field]} />
                </td>
                <Version side="stored" {...choice} name={`${group}-${column.field}`} column={column} />
                {mine !== undefined && (
                  <Version side="mine" {...choice} name={`${group}-${column.field}`} column={column} />
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {mine !== undefined && (
        <p className="faint small-text">
          {kept.length > 0 && `Fields that only one of you changed are kept: ${kept.join(', ')}. `}
          {same.length > 0 && !areAllShown && (
            <>
              {labelsOf(same).replace(/^./, (letter) => letter.toUpperCase())} {same.length === 1 ? 'is' : 'are'} the
              same in all.{' '}
              <Button className="link" onPress={() => showAll(true)}>
                Show {same.length === 1 ? 'it' : 'them'}
              </Button>
            </>
          )}
        </p>
      )}
      {mine !== undefined && (
        <div>
          <p className="faint small-text">Will be saved</p>
          <p translate="no">
            {columns.map((column, index) => (
              <Fragment key={column.field}>
                {index > 0 && ', '}
                {column.field === resource.nameField ? (
                  <b>{valueText(column, result[column.field])}</b>
                ) : (
                  valueText(column, result[column.field])
                )}
              </Fragment>
            ))}
          </p>
        </div>
      )}
    </>
  )
}

interface VersionProps extends Omit<Props, 'resource'> {
  column: Column
  side: Side
  /** The name of the group of both choices. */
  name: string
}

function Version({ column, side, name, versions, sideOf, onChoose }: VersionProps) {
  const { field } = column
  const by = changedBy(versions, field)
  const value = <Value column={column} value={versions[side]?.[field]} />
  return (
    <td data-label={side === 'stored' ? 'Stored' : 'Yours'}>
      {by === 'both' ? (
        <label>
          <input type="radio" name={name} checked={sideOf(field) === side} onChange={() => onChoose(field, side)} />
          {value}
        </label>
      ) : by === side ? (
        <span className="kept">{value}</span>
      ) : (
        <span className="faint">unchanged</span>
      )}
    </td>
  )
}
