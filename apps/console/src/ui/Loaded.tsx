import { NotFoundError, ServiceError, UnauthorizedError } from '@resource/client'
import { type ReactNode, useState } from 'react'
import { Button } from './Button.tsx'
import { errorMessage, isOutage } from './format.ts'

/** What shows of a query. */
export interface LoadedQuery<T> {
  data: T | undefined
  error: Error | null
  fetchStatus: string
  errorUpdateCount: number
  refetch: () => unknown
}

interface Props<T> {
  query: LoadedQuery<T>
  /** Heading if loading fails. */
  title: string
  /** Shown while loading: a text, or a picture of the data. */
  waiting: ReactNode
  /** Shown if the record does not exist. */
  missing?: ReactNode
  children: (data: T) => ReactNode
}

/** Shows the data of a query, or its state: loading, offline or failed. */
export function Loaded<T>({ query, title, waiting, missing, children }: Props<T>) {
  const { data, error, fetchStatus, errorUpdateCount, refetch } = query
  const [lastError, setLastError] = useState(error)
  if (error !== null && error !== lastError) setLastError(error)
  if (data !== undefined) return children(data)
  if (fetchStatus === 'paused') {
    return (
      <div className="state" role="status">
        <h2>You are offline</h2>
        <p>This page is not loaded yet. It loads when you are back online.</p>
      </div>
    )
  }
  // A query without data forgets its error while it tries again.
  const failure = error ?? (errorUpdateCount > 0 ? lastError : null)
  if (failure === null) {
    if (typeof waiting !== 'string') return waiting
    return (
      <p role="status" className="waiting">
        {waiting}
      </p>
    )
  }
  const response = failure instanceof ServiceError ? failure.meta?.response : undefined
  const requestId = response instanceof Response ? response.headers.get('x-request-id') : null
  if (failure instanceof NotFoundError && missing !== undefined) return missing
  const isLoggedOut = failure instanceof UnauthorizedError
  return (
    <div className="state" role="alert">
      <h2>{title}</h2>
      <p>
        {errorMessage(failure)} {isOutage(failure) && 'This page loads by itself when the service is back.'}
      </p>
      {/* Without a key, the next request asks for one. */}
      <div className="buttons">
        <Button onPress={() => void refetch()}>{isLoggedOut ? 'Log in' : 'Try again'}</Button>
        {failure instanceof ServiceError && failure.status > 0 && !isLoggedOut && (
          <span className="faint small-text">
            Status {failure.status}
            {requestId !== null && (
              <>
                , request <code translate="no">{requestId}</code>
              </>
            )}
          </span>
        )}
      </div>
    </div>
  )
}
