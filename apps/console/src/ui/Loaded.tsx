import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { errorMessage } from './format.ts'

interface Props<T> {
  query: { data: T | undefined; error: Error | null; fetchStatus: string; refetch: () => unknown }
  /** Heading if loading fails. */
  title: string
  /** Shown while loading. */
  waiting: ReactNode
  children: (data: T) => ReactNode
}

/** Shows the data of a query, or its state: loading, offline or failed. */
export function Loaded<T>({ query, title, waiting, children }: Props<T>) {
  const { data, error, fetchStatus, refetch } = query
  if (data !== undefined) return children(data)
  if (fetchStatus === 'paused') {
    return (
      <div className="state" role="status">
        <h2>You are offline</h2>
        <p>This page is not loaded yet. It loads when you are back online.</p>
      </div>
    )
  }
  if (error === null) return waiting
  return (
    <div className="state failure" role="alert">
      <h2>{title}</h2>
      <p>{errorMessage(error)}</p>
      <Button onPress={() => void refetch()}>Try again</Button>
    </div>
  )
}
