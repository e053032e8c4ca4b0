// Command pack writes the Go module in FOLDER to the folder PROXY, with the file names of a Go module proxy:
//
//	go run . FOLDER PROXY VERSION
//
// The go command installs the module from there if GOPROXY is file://PROXY.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: pack FOLDER PROXY VERSION")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes the files that the module proxy protocol defines: https://go.dev/ref/mod#goproxy-protocol.
func pack(folder, proxy, version string) error {
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	m := module.Version{Path: modfile.ModulePath(text), Version: version}
	out := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{version + ".mod": text, version + ".info": info, "list": []byte(version + "\n")} {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(out, version+".zip"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := zip.CreateFromDir(file, m, folder); err != nil {
		return err
	}
	return file.Close()
}
