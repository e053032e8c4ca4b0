// Package chdb calls libchdb, the ClickHouse engine as a shared library, without cgo. It also finds the library.
package chdb

import (
	"errors"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library has the functions of libchdb (chdb.h). Handles are C pointers, each in a uintptr. A fake library in tests
// replaces the exported functions.
type Library struct {
	Connect        func(argc int32, argv unsafe.Pointer) uintptr
	CloseConn      func(conn uintptr)
	setSignals     func(enabled int32)
	Shutdown       func() int32
	version        func() string
	Query          func(conn uintptr, q unsafe.Pointer, ql uintptr, f unsafe.Pointer, fl uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	StartInsert    func(conn uintptr, q unsafe.Pointer, ql uintptr, f unsafe.Pointer, fl uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	AppendInsert   func(stream uintptr, data unsafe.Pointer, n uintptr) int32
	DoneInsert     func(stream uintptr) uintptr
	CancelInsert   func(stream uintptr)
	InsertError    func(stream uintptr) string
	DestroyInsert  func(stream uintptr)
	DestroyResult  func(result uintptr)
	ResultError    func(result uintptr) string
	ResultBuffer   func(result uintptr) unsafe.Pointer
	ResultLength   func(result uintptr) uintptr
	ResultRows     func(result uintptr) uint64
	ResultBytes    func(result uintptr) uint64
	ResultScanned  func(result uintptr) uint64
	ResultScannedB func(result uintptr) uint64
	ResultWritten  func(result uintptr) uint64
	ResultWrittenB func(result uintptr) uint64
	classify       func(conn uintptr, q unsafe.Pointer, ql uintptr, database unsafe.Pointer, dl uintptr, out unsafe.Pointer) int32
}

// Load opens the shared library at path and binds its functions. The process can never unload it, because the
// engine starts threads.
func Load(path string) (lib *Library, err error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, &BrokenLibraryError{path, err}
	}
	lib = &Library{}
	for name, fn := range map[string]any{
		"chdb_connect":                     &lib.Connect,
		"chdb_close_conn":                  &lib.CloseConn,
		"chdb_set_signal_handlers_enabled": &lib.setSignals,
		"chdb_shutdown":                    &lib.Shutdown,
		"chdb_version":                     &lib.version,
		"chdb_query_with_params_n":         &lib.Query,
		"chdb_stream_insert_with_params_n": &lib.StartInsert,
		"chdb_stream_append":               &lib.AppendInsert,
		"chdb_stream_done":                 &lib.DoneInsert,
		"chdb_stream_cancel_insert":        &lib.CancelInsert,
		"chdb_stream_insert_error":         &lib.InsertError,
		"chdb_destroy_insert_stream":       &lib.DestroyInsert,
		"chdb_destroy_query_result":        &lib.DestroyResult,
		"chdb_result_error":                &lib.ResultError,
		"chdb_result_buffer":               &lib.ResultBuffer,
		"chdb_result_length":               &lib.ResultLength,
		"chdb_result_rows_read":            &lib.ResultRows,
		"chdb_result_bytes_read":           &lib.ResultBytes,
		"chdb_result_storage_rows_read":    &lib.ResultScanned,
		"chdb_result_storage_bytes_read":   &lib.ResultScannedB,
		"chdb_result_rows_written":         &lib.ResultWritten,
		"chdb_result_bytes_written":        &lib.ResultWrittenB,
		"chdb_classify_query_n":            &lib.classify,
	} {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, &BrokenLibraryError{path, err}
		}
		purego.RegisterFunc(fn, symbol)
	}
	// Go turns SIGSEGV into a panic for nil pointers, and the service stops on SIGTERM. The engine must not replace
	// these handlers.
	lib.setSignals(0)
	return lib, nil
}

// Open opens a connection with command-line arguments of the engine. A process's first Open boots the engine.
func (l *Library) Open(args ...string) (*Connection, error) {
	argv := make([]*byte, 0, len(args)+1)
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, arg := range append([]string{"vayu"}, args...) {
		b := append([]byte(arg), 0)
		pin.Pin(&b[0])
		argv = append(argv, &b[0])
	}
	handle := l.Connect(int32(len(argv)), unsafe.Pointer(&argv[0]))
	if handle == 0 {
		return nil, errors.New("opening an engine connection: rejected by the engine; see its output for the reason")
	}
	return &Connection{lib: l, handle: handle}, nil
}

// Connection is one session of the engine. It runs one statement at a time and is not safe for concurrent use.
type Connection struct {
	lib    *Library
	handle uintptr // chdb_connection *
}

// inner returns the chdb_connection. The handle, which chdb_connect returned, is a pointer to it.
func (c *Connection) inner() uintptr {
	return *(*uintptr)(pointer(c.handle))
}

// Close ends the session. When the last session of a process ends, the engine shuts down.
func (c *Connection) Close() { c.lib.CloseConn(c.handle) }

// Param is the value of one {name:Type} parameter of a query, in ClickHouse's escaped text form.
type Param struct{ Name, Value string }

// Counters are the engine's statistics of a statement.
type Counters struct {
	Rows, Bytes       uint64 // of the result
	Scanned, ScannedB uint64 // read from storage
	Written, WrittenB uint64 // by an insert, with its materialized views
}

// Result is a result in the engine's memory. The caller must free it.
type Result struct {
	lib    *Library
	handle uintptr
}

// take wraps a result's handle. If the result has an error message, take frees the result and returns the error.
func (l *Library) take(handle uintptr) (Result, error) {
	if handle == 0 {
		return Result{}, errors.New("the engine gave neither a result nor an error")
	}
	if message := l.ResultError(handle); message != "" {
		l.DestroyResult(handle)
		return Result{}, parseException(message)
	}
	return Result{lib: l, handle: handle}, nil
}

// Free releases the memory of the result.
func (r Result) Free() { r.lib.DestroyResult(r.handle) }

// Data returns the bytes of the result, which are valid until Free.
func (r Result) Data() []byte {
	n := r.lib.ResultLength(r.handle)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(r.lib.ResultBuffer(r.handle)), n)
}

// Counters returns the engine's statistics of the statement.
func (r Result) Counters() Counters {
	return Counters{
		Rows: r.lib.ResultRows(r.handle), Bytes: r.lib.ResultBytes(r.handle),
		Scanned: r.lib.ResultScanned(r.handle), ScannedB: r.lib.ResultScannedB(r.handle),
		Written: r.lib.ResultWritten(r.handle), WrittenB: r.lib.ResultWrittenB(r.handle),
	}
}

// call is the signature that the C functions for query and insert share.
type call func(conn uintptr, q unsafe.Pointer, ql uintptr, f unsafe.Pointer, fl uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr

// invoke calls a C function with Go strings. The strings stay in place until the call returns.
func (c *Connection) invoke(fn call, query, format string, params []Param) uintptr {
	var pin runtime.Pinner
	defer pin.Unpin()
	text := func(s string) unsafe.Pointer {
		b := append([]byte(s), 0)
		pin.Pin(&b[0])
		return unsafe.Pointer(&b[0])
	}
	n := len(params)
	names, values := make([]unsafe.Pointer, n+1), make([]unsafe.Pointer, n+1)
	nameLens, valueLens := make([]uintptr, n+1), make([]uintptr, n+1)
	for i, p := range params {
		names[i], nameLens[i] = text(p.Name), uintptr(len(p.Name))
		values[i], valueLens[i] = text(p.Value), uintptr(len(p.Value))
	}
	for _, p := range []any{&names[0], &values[0], &nameLens[0], &valueLens[0]} {
		pin.Pin(p)
	}
	return fn(c.inner(), text(query), uintptr(len(query)), text(format), uintptr(len(format)),
		unsafe.Pointer(&names[0]), unsafe.Pointer(&nameLens[0]), unsafe.Pointer(&values[0]), unsafe.Pointer(&valueLens[0]), uintptr(n))
}

// Query runs one statement and returns its whole result in the given format, such as "Native".
func (c *Connection) Query(query, format string, params []Param) (Result, error) {
	return c.lib.take(c.invoke(c.lib.Query, query, format, params))
}

// Exec runs a statement and discards its result.
func (c *Connection) Exec(query string) error {
	r, err := c.Query(query, "Null", nil)
	if err != nil {
		return err
	}
	r.Free()
	return nil
}

// Value runs a query and returns its only value as text.
func (c *Connection) Value(query string) (string, error) {
	r, err := c.Query(query, "TSVRaw", nil)
	if err != nil {
		return "", err
	}
	defer r.Free()
	return strings.TrimSuffix(string(r.Data()), "\n"), nil
}

// Insert starts an INSERT whose data is appended in pieces. `query` has neither a FORMAT clause nor data.
func (c *Connection) Insert(query, format string, params []Param) (*Insertion, error) {
	handle := c.invoke(c.lib.StartInsert, query, format, params)
	if handle == 0 {
		return nil, errors.New("starting an insert: the engine gave no handle")
	}
	if message := c.lib.InsertError(handle); message != "" {
		c.lib.DestroyInsert(handle)
		return nil, parseException(message)
	}
	return &Insertion{lib: c.lib, handle: handle}, nil
}

// Insertion is a running INSERT.
type Insertion struct {
	lib    *Library
	handle uintptr
}

// Write appends data to the INSERT. The engine copies data, and Write blocks while the engine is behind. If Write
// returns false, the INSERT has failed, and Done returns the cause.
func (i *Insertion) Write(data []byte) bool {
	defer runtime.KeepAlive(data)
	return len(data) == 0 || i.lib.AppendInsert(i.handle, unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data))) == 0
}

// Done commits the INSERT. It returns the statistics of the INSERT, or its error.
func (i *Insertion) Done() (Counters, error) {
	defer i.lib.DestroyInsert(i.handle)
	r, err := i.lib.take(i.lib.DoneInsert(i.handle))
	if err != nil {
		return Counters{}, err
	}
	defer r.Free()
	return r.Counters(), nil
}

// Abort cancels the INSERT. Incomplete blocks are not committed.
func (i *Insertion) Abort() {
	i.lib.CancelInsert(i.handle)
	i.lib.DestroyInsert(i.handle)
}

// pointer converts an address of C memory into a pointer in a way that go vet accepts.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}
