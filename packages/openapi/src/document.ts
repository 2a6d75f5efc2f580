import { initTRPC } from '@trpc/server'
import { generateOpenApiDocument, type OpenAPIObject, type OpenApiMeta } from 'trpc-openapi'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { PARAMETER, resolveBindings } from './bindings.ts'
import { simplify } from './code-generators.ts'
import type { Contract, Tag } from './contract.ts'
import { BEARER, type DocumentOptions, operations } from './document-operation.ts'

/** Creates the OpenAPI 3.1 document of a contract: every binding with its input and its possible statuses. */
export function openApiDocument(contract: Contract, options: DocumentOptions): OpenAPIObject {
  const paths: ZodOpenApiPathsObject = {}
  const describe = operations(options)
  const templates = new Map<string, string>()
  for (const resolved of resolveBindings(contract)) {
    const { path, method } = resolved.binding
    const shape = path.replace(PARAMETER, '{}')
    // In OpenAPI, paths that differ only in parameter names are the same path: the first binding sets the names.
    const template = templates.get(shape) ?? path
    templates.set(shape, template)
    const names = [...template.matchAll(PARAMETER)].map(([, name = '']) => name)
    const named = resolved.path.map((source, index) => ({ ...source, name: names[index] as string }))
    paths[template] = { ...paths[template], [method.toLowerCase()]: describe({ ...resolved, path: named }) }
  }
  const { title, version, description, contact, license, credentials } = options
  // The router is empty, because trpc-openapi derives one path per procedure, and these procedures have several.
  const document = generateOpenApiDocument(initTRPC.meta<OpenApiMeta>().create().router({}), {
    title,
    version,
    ...(description && { description }),
    ...(contact && { contact }),
    ...(license && { license }),
    baseUrl: '/',
    securitySchemes: { [BEARER]: { type: 'http', scheme: 'bearer', ...(credentials && { description: credentials }) } },
    paths,
  })
  document.tags = tagsOf(contract)
  document.security = []
  // No path is internal.
  document.servers = [{ url: '/', 'x-internal': false }]
  simplify(document)
  return document
}

function tagsOf(contract: Contract): Tag[] {
  const tags = new Map<string, Tag>()
  // Pages show tags in this order, so those of one resource are adjacent.
  for (const { binding, resource } of resolveBindings(contract)) {
    tags.set(resource.tag, { name: resource.tag, description: resource.description })
    if (binding.tag !== undefined) tags.set(binding.tag.name, binding.tag)
  }
  return [...tags.values()]
}
