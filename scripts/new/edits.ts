import { Refusal } from './fields.ts'
import type { Names } from './names.ts'
import { nounsIn } from './project.ts'

/** The list of the contract with the resource in it, ahead of the keys; for Biome to format. */
export function withNoun(list: string, { noun }: Names): string {
  const nouns = nounsIn(list)
  nouns.splice(nouns.indexOf('keys'), 0, noun)
  return withNouns(`import { ${noun} } from './${noun}.ts'\n${list}`, nouns)
}

export function withoutNoun(list: string, { noun }: Names): string {
  const line = new RegExp(`^import \\{ ${noun} \\} .*\\n`, 'm')
  return withNouns(
    list.replace(line, ''),
    nounsIn(list).filter((name) => name !== noun),
  )
}

function withNouns(list: string, nouns: string[]): string {
  return list.replace(/written = \{[^}]*\}/, `written = { ${nouns.join(', ')} }`)
}

/**
 * The models with another one at their end.
 *
 * @param backRelations lines for the models that it refers to
 */
export function withModel(models: string, model: string, backRelations: { model: string; line: string }[]): string {
  return backRelations.reduce(
    (text, { model, line }) =>
      text.replace(
        new RegExp(`^(model ${model} \\{\\n[^}]*?)(\\n  @@)`, 'm'),
        (_, fields: string, indexes: string) => `${fields}  ${line}\n${indexes}`,
      ),
    `${models}\n${model}`,
  )
}

/** @throws Refusal where there is no such model, or another one refers to it */
export function withoutModel(models: string, { model, words }: Names): string {
  const [block = ''] = new RegExp(`\\nmodel ${model} \\{\\n[^}]*\\}\\n`).exec(models) ?? []
  if (block === '') throw new Refusal(`${words}: there is no model ${model}. If it has another singular, add --one.`)
  const [, other] = /^ +\w+ +(\w+)\[\]/m.exec(block) ?? []
  if (other !== undefined) throw new Refusal(`${words}: the model ${other} refers to it. Remove that one before it.`)
  return models.replace(block, '').replace(new RegExp(`^  \\w+ +${model}\\[\\].*\\n`, 'gm'), '')
}
