import { useRef } from 'react'

/** A list as of the render that made it, until an element differs. */
export function useSame<T>(list: T[]): T[] {
  const kept = useRef(list)
  const isSame = kept.current.length === list.length && list.every((value, index) => value === kept.current[index])
  if (!isSame) kept.current = list
  return kept.current
}
