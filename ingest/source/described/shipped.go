package described

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed shipped/*.yaml
var shipped embed.FS

// Shipped returns the descriptions that are part of the program. Their field Env is nil.
func Shipped() []File {
	entries, _ := fs.ReadDir(shipped, "shipped") // an embedded folder is always readable
	all := make([]File, 0, len(entries))
	for _, e := range entries {
		text, _ := shipped.ReadFile(path.Join("shipped", e.Name()))
		all = append(all, File{Path: e.Name(), Text: text})
	}
	return all
}
