package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"vayu/internal/columnstore/embedded"
)

// Input has the statements of a script.
type Input struct {
	Args  []string // at most one text of statements
	File  string   // a file of statements if Args is empty; "-" and "" for Stdin
	Stdin io.Reader
}

// maxScript is the maximum size of a script in bytes.
const maxScript = 64 << 20

// text returns the statements of a script. If the last one is an INSERT … FORMAT without rows, `data` has the rows.
func (in Input) text() (text string, data io.Reader, err error) {
	switch {
	case len(in.Args) > 0:
		text = in.Args[0]
	case in.File != "" && in.File != "-":
		whole, err := os.ReadFile(in.File)
		if err != nil {
			return "", nil, fmt.Errorf("reading statements: %w", err)
		}
		return string(whole), in.Stdin, nil
	default:
		whole, err := io.ReadAll(io.LimitReader(in.Stdin, maxScript+1))
		if err != nil {
			return "", nil, fmt.Errorf("reading statements: %w", err)
		}
		if len(whole) > maxScript {
			return "", nil, fmt.Errorf("the statements have more than %d bytes", maxScript)
		}
		return string(whole), nil, nil
	}
	return text, in.Stdin, nil
}

// Script runs the statements of an input, and writes their results to the file `output`, or to c.Out for "". The
// file has a temporary name until all statements have succeeded.
func (c Config) Script(ctx context.Context, in Input, output string) error {
	text, data, err := in.text()
	if err != nil {
		return err
	}
	all := embedded.Split(text)
	if len(all) == 0 {
		return errors.New("there is no statement to run")
	}
	if !all[len(all)-1].Body {
		data = nil
	}
	if output == "" {
		return c.script(ctx, text, data)
	}
	file, err := Create(output)
	if err != nil {
		return err
	}
	c.Out = file
	return file.Finish(c.script(ctx, text, data))
}

func (c Config) script(ctx context.Context, text string, data io.Reader) error {
	console, err := New(ctx, c)
	if err != nil {
		return err
	}
	return console.Run(ctx, text, data)
}
