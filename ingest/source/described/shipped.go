package described

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// shipped has the file of each shipped description, and a folder with its test cases.
//
//go:embed shipped
var shipped embed.FS

// CopyCases copies the test cases of a shipped description into a folder, which must not exist.
func CopyCases(name, folder string) error {
	from, err := fs.Sub(shipped, path.Join("shipped", name))
	if err == nil {
		err = os.CopyFS(folder, from)
	}
	if err != nil {
		return fmt.Errorf("copying the cases of the source %q: %w", name, err)
	}
	return nil
}

// Shipped returns the files of the descriptions that are part of the program. Their field Env is nil.
func Shipped() []File {
	names, _ := fs.Glob(shipped, "shipped/*.yaml") // an embedded folder is always readable
	all := make([]File, 0, len(names))
	for _, name := range names {
		text, _ := shipped.ReadFile(name)
		all = append(all, File{Path: path.Base(name), Text: text, Shipped: true})
	}
	return all
}
