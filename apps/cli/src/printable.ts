import { stripVTControlCharacters } from 'node:util'

// Joiners and tags that are part of an emoji, or of a word in a script that needs them.
const JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\p{sc=Arab}])[\u200c\u200d](?=[\p{Extended_Pictographic}\p{L}])/u
const FLAG_TAG = /(?<=\u{1f3f4}[\u{e0020}-\u{e007e}]*)[\u{e0020}-\u{e007f}]/u
const HIDDEN = new RegExp(`${JOINER.source}|${FLAG_TAG.source}|([\\p{Cf}\\p{Cs}\\u2028\\u2029])`, 'gu')

/**
 * Text of a file, of a record or of the service, for a terminal. Control characters could move the cursor, so they become
 * spaces. Invisible characters, such as those that reverse the direction of text, are shown as `\u{202e}`.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[^\P{Cc}\n]/gu, ' ')
    .replace(HIDDEN, (character, hidden) =>
      hidden === undefined ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
}
