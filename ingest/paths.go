package ingest

import (
	"context"
	"fmt"
	"sync"
)

// Paths notes for the paths of a description whether a record has them. A wrong path of an optional field is no error
// of a fetch, so a preview shows it. Paths is safe for concurrent use, and a nil Paths notes nothing.
type Paths struct {
	mu  sync.Mutex
	all []*Path
	at  map[string]*Path // by the key
}

// Path is a path of a description that no record has.
type Path struct {
	// Key is the key of the description, such as quality.status, and Path the path of the field.
	Key  string `json:"key"`
	Path string `json:"path"`
	// Records is how many records were searched.
	Records int `json:"records"`

	seen bool
}

// String returns a sentence about the path, for users.
func (p Path) String() string {
	return fmt.Sprintf("%s: no field %q in any of %d records", p.Key, p.Path, p.Records)
}

// Note notes whether records have the field of a key.
func (p *Paths) Note(key, path string, records int, seen bool) {
	if p == nil || records == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.at[key]
	if one == nil {
		if p.at == nil {
			p.at = make(map[string]*Path)
		}
		one = &Path{Key: key, Path: path}
		p.at[key] = one
		p.all = append(p.all, one)
	}
	one.Records += records
	one.seen = one.seen || seen
}

// Absent returns the paths that no record has.
func (p *Paths) Absent() []Path {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var absent []Path
	for _, one := range p.all {
		if !one.seen {
			absent = append(absent, *one)
		}
	}
	return absent
}

// PathsOf returns the paths that the recorder of a context notes; nil for none.
func PathsOf(ctx context.Context) *Paths { return RecorderOf(ctx).paths() }

// paths returns where to note paths; nil if nothing wants them.
func (r *Recorder) paths() *Paths {
	if r == nil {
		return nil
	}
	return r.Paths
}

// Paths returns where a source notes the paths of its description; nil in a fetch that does not want them.
func (b *Builder) Paths() *Paths { return b.recorder.paths() }
