// The parts of an operation that Swagger UI draws in another order, or all at once: plugins for its `wrapComponents`.
globalThis.operationParts = {
  parameters: withFoldedHeaders,
  modelExample: withSchema,
  response: folded,
  liveResponse: answer,
}

/** The parameters, of which the header fields are folded: a request seldom needs one. */
function withFoldedHeaders(Parameters, { React }) {
  const { createElement: h, useEffect, useRef, useState } = React
  const isHeader = (parameter) => parameter.get('in') === 'header'
  return (props) => {
    const headers = props.parameters.filter(isHeader)
    const [isOpen, setOpen] = useState(headers.some((parameter) => parameter.get('required')))
    const section = useRef(null)
    // Swagger UI names only its inputs, by their placeholders.
    useEffect(() => {
      for (const field of section.current.querySelectorAll('select, textarea')) {
        field.ariaLabel ??= field.closest('tr')?.dataset.paramName ?? 'Request body'
        const unset = field.querySelector('option[value=""]')
        if (unset !== null) unset.textContent = 'default'
      }
    })
    const fields = { parameters: headers, operation: props.operation.delete('requestBody') }
    const fold = h(
      'details',
      { className: 'fold', open: isOpen, onToggle: ({ currentTarget }) => setOpen(currentTarget.open) },
      h('summary', null, 'Header fields', h('small', null, headers.size)),
      isOpen && h(Parameters, { ...props, ...fields }),
    )
    const others = h(Parameters, { ...props, parameters: props.parameters.filterNot(isHeader) })
    return h('div', { ref: section }, others, headers.size > 0 && fold)
  }
}

/** The body of a request, or an example of one of a response; in its place, on demand, its schema. */
function withSchema(_, { React }) {
  const { createElement: h, useEffect, useRef, useState } = React
  return ({ example, isExecute, ...props }) => {
    const [isSchema, setSchema] = useState(false)
    const section = useRef(null)
    useEffect(() => {
      // That of a schema without a title.
      const fold = section.current.querySelector('.json-schema-2020-12-accordion')
      if (fold?.textContent === '') fold.ariaLabel = 'Fields'
    })
    const Schema = props.getComponent('ModelWrapper')
    const toggle = {
      type: 'button',
      className: isSchema ? 'button small pressed' : 'button small',
      'aria-pressed': isSchema,
      onClick: () => setSchema(!isSchema),
    }
    return h(
      'section',
      { ref: section, className: 'body' },
      h('header', null, h('h4', null, isExecute ? 'Body' : 'Example'), h('button', toggle, 'Schema')),
      isSchema ? h(Schema, props) : example,
    )
  }
}

/** A documented response: one row, and the rest when it is opened. */
function folded(Response, { React }) {
  const { createElement: h, useState } = React
  return (props) => {
    const [isOpen, setOpen] = useState(false)
    const text = props.response.get('description').replaceAll('`', '')
    const row = h(
      'button',
      { type: 'button', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
      h('code', null, props.code),
      h('span', null, text),
    )
    return [
      h('tr', { key: 'row', className: 'response-row' }, h('td', null, row)),
      isOpen && h(Response, { ...props, key: 'response' }),
    ]
  }
}

/** The answer to a request: its status, what it took, its body, and on demand its header fields and the request. */
function answer(_, { React, fn }) {
  const { createElement: h, useEffect, useRef } = React
  const fold = (title, text) =>
    h('details', { className: 'fold' }, h('summary', null, title), h('pre', { tabIndex: 0 }, text))
  return ({ response, path, method, specSelectors }) => {
    const section = useRef(null)
    const headers = response.get('headers')
    const status = response.get('status')
    // Swagger UI measures only what succeeds.
    const duration = response.get('duration') !== undefined && `${response.get('duration')} ms`
    const text = response.get('text') ?? response.get('message') ?? ''
    // Swagger UI makes a new response at each change of the page, with the same header fields.
    useEffect(() => {
      // The sign of the running request goes first.
      requestAnimationFrame(() => section.current?.scrollIntoView({ block: 'nearest' }))
    }, [headers])
    const lines = Object.entries(headers?.toJS() ?? {}).map(([name, value]) => `${name}: ${value}`)
    return h(
      'section',
      { ref: section, className: 'answer', 'aria-live': 'polite' },
      h(
        'header',
        null,
        h('h4', null, 'Response'),
        h('span', { className: `badge ${status < 300 ? 'good' : 'danger'}` }, status ?? 'Failed'),
        h('small', null, [duration, `${new Blob([text]).size.toLocaleString('en')} bytes`].filter(Boolean).join(' · ')),
      ),
      text !== '' && h('pre', { className: 'answer-body', tabIndex: 0 }, ...withDimKeys(h, indented(text))),
      fold('Header fields', lines.join('\n')),
      fold('Request as cURL', fn.requestSnippetGenerator_curl_bash(specSelectors.requestFor(path, method))),
    )
  }
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

// An element for each key of a long text would take longer than the request.
const MAX_COLORED_LENGTH = 20_000

function withDimKeys(h, text) {
  if (text.length > MAX_COLORED_LENGTH) return [text]
  const parts = text.split(/^( *"(?:[^"\\]|\\.)*")(?=:)/m)
  return parts.map((part, index) => (index % 2 === 0 ? part : h('span', { key: index, className: 's' }, part)))
}
