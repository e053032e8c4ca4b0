// Package arrowstream reads flat tables from Arrow IPC streams of unknown origin. It reads the columns that its caller
// names, and skips other columns. It checks every length and offset before use. Its memory is bounded by the size of
// the stream and by [MaxBytes].
//
// The package reads the usual types of flat tables: integers, floating-point numbers, text, dictionary-encoded text,
// and timestamps. The buffers may be compressed with LZ4 or Zstandard. The layout is that of the Arrow Columnar Format
// 1.5 (https://arrow.apache.org/docs/format/Columnar.html).
package arrowstream

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// MaxBytes limits the memory that one stream needs, in bytes. It limits the total size of the decompressed buffers. It
// also limits the total size of the texts, because many rows of a hostile stream can refer to the same bytes.
const MaxBytes = 32 << 20

// MaxText is the length of the longest readable text, in bytes. Many rows can refer to one dictionary text, and the
// caller processes that text for each row. MaxText bounds this work.
const MaxText = 1 << 10

// Error describes why a stream is invalid or not supported.
type Error struct {
	Column  string // "" if no column is at fault
	Message string // a sentence
}

// Error implements error.
func (e *Error) Error() string {
	if e.Column == "" {
		return "reading an Arrow stream: " + e.Message
	}
	return fmt.Sprintf("reading the column %q of an Arrow stream: %s", e.Column, e.Message)
}

func fault(column, format string, args ...any) error {
	return &Error{column, fmt.Sprintf(format, args...)}
}

// Kinds of messages in the union MessageHeader of Message.fbs.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// reader has the state of one stream.
type reader struct {
	rest    []byte
	columns []column        // nil before the schema
	wanted  map[string]bool // names of the columns to read
	// dictionaries maps the id of each dictionary to its texts.
	dictionaries map[int64][]string
	texts        map[int64]valueType // types of the texts in the dictionaries to read, by id
	left         int                 // bytes of MaxBytes that decompressed buffers may still use
	textLeft     int                 // bytes of MaxBytes that texts may still use
	decompressor
}

// Read calls `visit` with each batch of a stream. The batch is valid during the call only. The stream need not have all
// wanted columns, see [Batch.Has]. The error is an *Error or the error that `visit` returned.
func Read(stream []byte, wanted []string, visit func(*Batch) error) error {
	r := &reader{
		rest: stream, wanted: make(map[string]bool), dictionaries: make(map[int64][]string),
		texts: make(map[int64]valueType), left: MaxBytes, textLeft: MaxBytes,
	}
	defer r.close()
	for _, name := range wanted {
		r.wanted[name] = true
	}
	if bytes.HasPrefix(stream, []byte("ARROW1")) {
		return fault("", "The body is an Arrow file. Send a stream, as pyarrow.ipc.new_stream writes it.")
	}
	for {
		more, err := r.message(visit)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if r.columns == nil {
		return fault("", "The stream has no schema.")
	}
	return nil
}

// errCut returns the error of a stream that ends too early or has a wrong length.
func errCut() error { return fault("", "The stream is cut off, or a length in it is wrong.") }

// take returns the next n bytes of the stream.
func (r *reader) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(r.rest)) {
		return nil, errCut()
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part, nil
}

// message reads the next message of the stream. `more` is false at the end of the stream.
func (r *reader) message(visit func(*Batch) error) (more bool, err error) {
	if len(r.rest) == 0 {
		return false, nil
	}
	head, err := r.take(8)
	if err != nil {
		return false, err
	}
	if binary.LittleEndian.Uint32(head) != 0xFFFFFFFF {
		return false, fault("", "The body is not an Arrow IPC stream of version 0.15 or later.")
	}
	length := int64(int32(binary.LittleEndian.Uint32(head[4:])))
	if length == 0 {
		if len(r.rest) > 0 {
			return false, fault("", "Something follows the end of the stream.")
		}
		return false, nil
	}
	metadata, err := r.take(length)
	if err != nil {
		return false, err
	}
	broken := false
	message := root(metadata, &broken)
	version, kind := message.scalar(0, 2), message.scalar(1, 1)
	header, _ := message.table(2)
	body, err := r.take(message.scalar(3, 8))
	switch {
	case broken || header.broken == nil:
		return false, errCut()
	case err != nil:
		return false, err
	case version != 3 && version != 4: // MetadataVersion V4 and V5
		return false, fault("", "The metadata version of the stream is not supported.")
	}
	switch {
	case kind == schemaMessage && r.columns == nil:
		err = r.schema(header)
	case kind == dictionaryMessage && r.columns != nil:
		err = r.dictionary(header, body)
	case kind == batchMessage && r.columns != nil:
		err = r.batch(header, body, visit)
	default:
		err = fault("", "The stream has an unexpected message.")
	}
	if err == nil && broken {
		err = errCut()
	}
	return true, err
}
