package httpapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"vayu/internal/apidoc"
	"vayu/internal/httpapi"
)

// document is the API's description (schema/openapi.yaml), the contract, prepared for checks of replies.
type document struct {
	paths []*path
	// refusals are the error replies that any request can get, by status. Requests of undescribed paths get
	// them too.
	refusals map[int]*reply
}

// path is a path template of the contract, such as /v1/keys/{id}, with its methods.
type path struct {
	template string
	segments []string // "" for a parameter
	methods  map[string]*operation
}

type operation struct {
	scope   *string // nil for an operation that needs no key
	query   []string
	replies map[int]*reply
}

// reply is the description of the replies of an operation with one status.
type reply struct {
	headers map[string]*header // by canonical name, such as Content-Type
	content map[string]*jsonschema.Schema
}

type header struct {
	required bool
	numeric  bool
	schema   *jsonschema.Schema
}

// contract returns the compiled contract. It is compiled once per test binary.
var contract = sync.OnceValues(func() (*document, error) {
	text, err := apidoc.Document()
	if err != nil {
		return nil, err
	}
	return compile(text)
})

// compiler converts the contract's text to a document and compiles its JSON schemas. It records the first error
// and continues.
type compiler struct {
	root    any
	schemas *jsonschema.Compiler
	err     error
}

const documentURL = "https://contract.invalid/openapi.json"

func newCompiler(text []byte) (*compiler, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	c := &compiler{root: root, schemas: jsonschema.NewCompiler()}
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	c.schemas.AssertFormat()
	if err := c.schemas.AddResource(documentURL, root); err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	return c, nil
}

func compile(text []byte) (*document, error) {
	c, err := newCompiler(text)
	if err != nil {
		return nil, err
	}
	d := &document{refusals: map[int]*reply{}}
	for _, template := range c.names("/paths") {
		d.paths = append(d.paths, c.path(template))
	}
	for _, status := range c.names("/components/responses") {
		if n, err := strconv.Atoi(status); err == nil && n >= http.StatusBadRequest {
			d.refusals[n] = c.reply("/components/responses/" + status)
		}
	}
	// Paths without parameters come first, so that find prefers /v1/sessions/current to /v1/sessions/{id}.
	slices.SortStableFunc(d.paths, func(a, b *path) int { return strings.Count(a.template, "{") - strings.Count(b.template, "{") })
	return d, c.err
}

func (c *compiler) fail(at string, err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("contract, %s: %w", at, err)
	}
}

// resolve follows references ($ref) from a JSON pointer. It returns the pointer and value of the target. The
// value is nil if there is no target.
func (c *compiler) resolve(pointer string) (string, any) {
	v := c.root
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(in) {
				return pointer, nil
			}
			v = in[n]
		default:
			return pointer, nil
		}
	}
	if m, ok := v.(map[string]any); ok {
		if ref, ok := m["$ref"].(string); ok {
			return c.resolve(strings.TrimPrefix(ref, "#"))
		}
	}
	return pointer, v
}

func (c *compiler) names(pointer string) []string {
	_, v := c.resolve(pointer)
	m, _ := v.(map[string]any)
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *compiler) text(pointer string) string {
	_, v := c.resolve(pointer)
	s, _ := v.(string)
	return s
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func (c *compiler) path(template string) *path {
	at := "/paths/" + escape(template)
	p := &path{template: template, methods: map[string]*operation{}}
	for segment := range strings.SplitSeq(template, "/") {
		if strings.HasPrefix(segment, "{") {
			segment = ""
		}
		p.segments = append(p.segments, segment)
	}
	p.segments = p.segments[1:]
	for _, name := range c.names(at) {
		method := strings.ToUpper(name)
		if name == "parameters" || strings.HasPrefix(name, "x-") {
			continue
		}
		p.methods[method] = c.operation(at + "/" + name)
	}
	return p
}

func (c *compiler) operation(at string) *operation {
	o := &operation{replies: map[int]*reply{}}
	if _, scope := c.resolve(at + "/x-scope"); scope != nil {
		text, _ := scope.(string)
		o.scope = &text
	}
	_, parameters := c.resolve(at + "/parameters")
	all, _ := parameters.([]any)
	for i := range all {
		one := at + "/parameters/" + strconv.Itoa(i)
		one, _ = c.resolve(one)
		if c.text(one+"/in") == "query" {
			o.query = append(o.query, c.text(one+"/name"))
		}
	}
	for _, status := range c.names(at + "/responses") {
		n, err := strconv.Atoi(status)
		c.fail(at, err)
		o.replies[n] = c.reply(at + "/responses/" + status)
	}
	return o
}

func (c *compiler) reply(at string) *reply {
	at, _ = c.resolve(at)
	r := &reply{headers: map[string]*header{}, content: map[string]*jsonschema.Schema{}}
	for _, name := range c.names(at + "/headers") {
		inner, v := c.resolve(at + "/headers/" + name)
		m, _ := v.(map[string]any)
		required, _ := m["required"].(bool)
		r.headers[http.CanonicalHeaderKey(name)] = &header{
			required: required, numeric: c.text(inner+"/schema/type") == "integer", schema: c.schema(inner + "/schema"),
		}
	}
	for _, name := range c.names(at + "/content") {
		r.content[name] = c.schema(at + "/content/" + escape(name) + "/schema")
	}
	return r
}

func (c *compiler) schema(at string) *jsonschema.Schema {
	s, err := c.schemas.Compile(documentURL + "#" + at)
	c.fail(at, err)
	return s
}

// find returns the described path that matches a request's path; nil for none. A path parameter
// matches any non-empty segment.
func (d *document) find(name string) *path {
	if rest, ok := strings.CutPrefix(name, httpapi.SessionPrefix+"/v1/"); ok {
		name = "/v1/" + rest // the prefix selects a browser session, not another endpoint
	}
	segments := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for _, p := range d.paths {
		if len(p.segments) != len(segments) {
			continue
		}
		fits := true
		for i, want := range p.segments {
			fits = fits && (segments[i] == want || want == "" && segments[i] != "")
		}
		if fits {
			return p
		}
	}
	return nil
}

// value converts the text of a header to a number if its schema requires an integer.
func (h *header) value(text string) any {
	if h.numeric {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
			return json.Number(text)
		}
	}
	return text
}
