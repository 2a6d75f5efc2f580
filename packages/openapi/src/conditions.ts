import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from './api-error.ts'
import type { ResolvedBinding } from './bindings.ts'
import { fieldApiError } from './target.ts'

const NO_TAG = 'cannot be used here: the resource has no ETag'

// The versions that a write allows; undefined if it allows any. A weak or foreign tag matches no record (RFC 9110), so it
// adds no version. No existing record matches If-None-Match: *.
export function matchedVersions(
  { takesVersion }: ResolvedBinding,
  { 'if-match': header, 'if-none-match': noneMatch }: IncomingHttpHeaders,
): number[] | undefined {
  if (noneMatch !== undefined) {
    // A list of tags would be versions that the record must not have.
    if (noneMatch.trim() !== '*') throw fieldApiError('If-None-Match', 'must be * in a write')
    return []
  }
  if (header === undefined || header.trim() === '*') return undefined
  const tags = entityTags(header)
  if (tags === undefined) throw fieldApiError('If-Match', 'must be * or a list of quoted entity tags')
  return tags.flatMap(({ weak, tag }) => {
    const version = weak ? Number.NaN : Number(/^([1-9]\d*)-/.exec(tag)?.[1])
    return Number.isSafeInteger(version) && takesVersion(version) ? [version] : []
  })
}

/** The 412 of a write explains weak entity tags, if `If-Match` has one: the version of the record may well be current. */
export function explainWeakTags(error: unknown, { 'if-match': header }: IncomingHttpHeaders): unknown {
  if (!(error instanceof ApiError) || error.status !== 412 || header === undefined) return error
  if (!entityTags(header)?.some(({ weak }) => weak)) return error
  const { fields, headers, data, cause } = error
  return new ApiError(412, WEAK_TAG, { fields, headers, reason: 'weak_tag', data, cause })
}

const WEAK_TAG =
  'If-Match has a weak entity tag (W/"…"), and weak tags never match (RFC 9110, 13.1.1). A proxy that compresses answers weakens their tags: send the tag without W/'

// Ignoring a condition would carry out a write that must not happen (RFC 9110, 13.1.1).
export function refuseConditions({ 'if-match': match, 'if-none-match': noneMatch }: IncomingHttpHeaders): void {
  if (match !== undefined && match.trim() !== '*') throw fieldApiError('If-Match', NO_TAG)
  if (noneMatch !== undefined) throw fieldApiError('If-None-Match', NO_TAG)
}

/** The entity tags of an If-Match or If-None-Match; undefined if the header is not a list of entity tags. */
export function entityTags(header: string): { weak: boolean; tag: string }[] | undefined {
  const tags: { weak: boolean; tag: string }[] = []
  const next = /\s*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*)?(,|$)/y
  while (next.lastIndex < header.length) {
    const match = next.exec(header)
    if (match === null) return undefined
    if (match[2] !== undefined) tags.push({ weak: match[1] !== undefined, tag: match[2] })
    if (match[3] === '') break
  }
  return tags.length === 0 ? undefined : tags
}
