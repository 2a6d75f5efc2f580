import type { Change } from '@resource/client'
import { useEffect, useEffectEvent, useState } from 'react'
import { create } from 'zustand'
import type { Noun, Row } from '../resources/resource.ts'
import { onLogOut } from '../ui/log-out.ts'
import { latestOf, turnOf } from './turns.ts'

/** `off` without the feed of changes: the page then shows what it has read. */
export type Connection = 'off' | 'live' | 'reconnecting' | 'stale'

/** What others just did to a record that is shown. */
export interface Mark {
  kind: 'changed' | 'deleted'
  /** The fields whose values differ. */
  fields: readonly string[]
}

interface Live {
  connection: Connection
  /** The changes that arrived last. */
  changes: readonly Change[]
  /** By noun and id. */
  marks: ReadonlyMap<string, Mark>
  /** The records that others created, by noun and id, and when this page learned of them. */
  created: ReadonlyMap<string, number>
}

export const INITIAL: Live = { connection: 'off', changes: [], marks: new Map(), created: new Map() }

/** What is known of the changes by others. */
export const useLive = create<Live>(() => INITIAL)

onLogOut(() => useLive.setState(INITIAL))

export function liveKey(noun: Noun, id: number): string {
  return `${noun}/${id}`
}

/**
 * Hears the changes as they arrive.
 *
 * @param intervalMs hears bursts that follow each other within this time once
 */
export function useFeed(hear: (changes: readonly Change[]) => void, { intervalMs = 0, isOn = true } = {}): void {
  const hearNow = useEffectEvent(hear)
  useEffect(() => {
    if (!isOn) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = useLive.subscribe(({ changes }, before) => {
      if (changes === before.changes) return
      if (intervalMs === 0) return hearNow(changes)
      timer ??= setTimeout(() => {
        timer = undefined
        hearNow(changes)
      }, intervalMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [isOn, intervalMs])
}

/** What others just did to the records of a noun. */
export function useMarks(noun: Noun) {
  const marks = useLive(({ marks }) => marks)
  return (id: number) => marks.get(liveKey(noun, id))
}

/** How many records others have created since a list was read. */
export function useCreated(noun: Noun, list: { rows: Row[]; readMs: number } | undefined): number {
  const created = useLive(({ created }) => created)
  if (list === undefined) return 0
  const shown = new Set(list.rows.map(({ id }) => liveKey(noun, id)))
  const isNew = ([key, ms]: [string, number]) => key.startsWith(`${noun}/`) && ms > list.readMs && !shown.has(key)
  return [...created].filter(isNew).length
}

/** A record as others have stored it since this version; null if they have deleted it. */
export function useNewer(noun: Noun, row: Row | undefined): Row | null | undefined {
  const [newer, setNewer] = useState<Row | null>()
  const hear = async (change: Change) => {
    if (row === undefined || change.resource !== noun || change.record_id !== row.id) return
    // The answer to a write of this page may come after its change.
    await turnOf(noun, row.id)
    if (isNewer(change, latestOf(noun, row))) setNewer(change.record && { ...row, ...change.record })
  }
  useFeed((changes) => {
    for (const change of changes) void hear(change)
  })
  return newer != null && row !== undefined && newer.version <= row.version ? undefined : newer
}

/** Whether a change is later than a version of its record. */
export function isNewer({ record, version }: Change, row: Row): boolean {
  return record === null || version > row.version
}
