package embedded

import (
	"errors"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library has the functions of libchdb (chdb.h), bound without cgo. Handles are C pointers in a uintptr.
type library struct {
	connect        func(argc int32, argv unsafe.Pointer) uintptr
	closeConn      func(conn uintptr)
	setSignals     func(enabled int32)
	shutdown       func() int32
	version        func() string
	query          func(conn uintptr, q unsafe.Pointer, ql uintptr, f unsafe.Pointer, fl uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	stream         func(conn uintptr, q unsafe.Pointer, ql uintptr, f unsafe.Pointer, fl uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	fetch          func(conn, stream uintptr) uintptr
	cancel         func(conn, stream uintptr)
	insert         func(conn uintptr, q unsafe.Pointer, ql uintptr, f unsafe.Pointer, fl uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	appendInsert   func(stream uintptr, data unsafe.Pointer, n uintptr) int32
	doneInsert     func(stream uintptr) uintptr
	cancelInsert   func(stream uintptr)
	insertError    func(stream uintptr) string
	destroyInsert  func(stream uintptr)
	destroyResult  func(result uintptr)
	resultError    func(result uintptr) string
	resultBuffer   func(result uintptr) unsafe.Pointer
	resultLength   func(result uintptr) uintptr
	resultRows     func(result uintptr) uint64
	resultBytes    func(result uintptr) uint64
	resultScanned  func(result uintptr) uint64
	resultScannedB func(result uintptr) uint64
	resultWritten  func(result uintptr) uint64
	resultWrittenB func(result uintptr) uint64
}

// loadLibrary opens the shared library at path and binds its functions. The process can never unload it, because the
// engine starts threads.
func loadLibrary(path string) (lib *library, err error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, &BrokenLibraryError{path, err}
	}
	lib = &library{}
	for name, fn := range map[string]any{
		"chdb_connect":                     &lib.connect,
		"chdb_close_conn":                  &lib.closeConn,
		"chdb_set_signal_handlers_enabled": &lib.setSignals,
		"chdb_shutdown":                    &lib.shutdown,
		"chdb_version":                     &lib.version,
		"chdb_query_with_params_n":         &lib.query,
		"chdb_stream_query_with_params_n":  &lib.stream,
		"chdb_stream_fetch_result":         &lib.fetch,
		"chdb_stream_cancel_query":         &lib.cancel,
		"chdb_stream_insert_with_params_n": &lib.insert,
		"chdb_stream_append":               &lib.appendInsert,
		"chdb_stream_done":                 &lib.doneInsert,
		"chdb_stream_cancel_insert":        &lib.cancelInsert,
		"chdb_stream_insert_error":         &lib.insertError,
		"chdb_destroy_insert_stream":       &lib.destroyInsert,
		"chdb_destroy_query_result":        &lib.destroyResult,
		"chdb_result_error":                &lib.resultError,
		"chdb_result_buffer":               &lib.resultBuffer,
		"chdb_result_length":               &lib.resultLength,
		"chdb_result_rows_read":            &lib.resultRows,
		"chdb_result_bytes_read":           &lib.resultBytes,
		"chdb_result_storage_rows_read":    &lib.resultScanned,
		"chdb_result_storage_bytes_read":   &lib.resultScannedB,
		"chdb_result_rows_written":         &lib.resultWritten,
		"chdb_result_bytes_written":        &lib.resultWrittenB,
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

// open makes a connection with the engine's command-line arguments; the first one of a process boots the engine.
func (l *library) open(args ...string) (*connection, error) {
	argv := make([]*byte, 0, len(args)+1)
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, arg := range append([]string{"vayu"}, args...) {
		b := append([]byte(arg), 0)
		pin.Pin(&b[0])
		argv = append(argv, &b[0])
	}
	handle := l.connect(int32(len(argv)), unsafe.Pointer(&argv[0]))
	if handle == 0 {
		return nil, errors.New("opening an engine connection: rejected by the engine; see its output for the reason")
	}
	return &connection{lib: l, handle: handle}, nil
}

// connection is one session of the engine. It runs one statement at a time and is not safe for concurrent use.
type connection struct {
	lib    *library
	handle uintptr // chdb_connection *
}

// inner returns the chdb_connection, to which the result of chdb_connect points.
func (c *connection) inner() uintptr {
	return *(*uintptr)(pointer(c.handle))
}

// close ends the session. Closing the last one of a process shuts the engine down.
func (c *connection) close() { c.lib.closeConn(c.handle) }

// param is one {name:Type} parameter with its value in ClickHouse's escaped text form.
type param struct{ name, value string }

// counters are the engine's statistics of a statement.
type counters struct {
	rows, bytes       uint64 // of the result
	scanned, scannedB uint64 // read from storage
	written, writtenB uint64 // by an insert, with its materialized views
}

// result is a result, or a piece of one, in memory of the engine. It must be freed.
type result struct {
	lib    *library
	handle uintptr
}

// take wraps the handle of a result. If it has an error message, take frees it and returns the message as an error.
func (l *library) take(handle uintptr) (result, error) {
	if handle == 0 {
		return result{}, errors.New("the engine gave neither a result nor an error")
	}
	if message := l.resultError(handle); message != "" {
		l.destroyResult(handle)
		return result{}, parseException(message)
	}
	return result{lib: l, handle: handle}, nil
}

func (r result) free() { r.lib.destroyResult(r.handle) }

// data returns the bytes of the result, which are valid until free.
func (r result) data() []byte {
	n := r.lib.resultLength(r.handle)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(r.lib.resultBuffer(r.handle)), n)
}

func (r result) counters() counters {
	return counters{
		rows: r.lib.resultRows(r.handle), bytes: r.lib.resultBytes(r.handle),
		scanned: r.lib.resultScanned(r.handle), scannedB: r.lib.resultScannedB(r.handle),
		written: r.lib.resultWritten(r.handle), writtenB: r.lib.resultWrittenB(r.handle),
	}
}

// call is the signature that query, stream and insert share.
type call func(conn uintptr, q unsafe.Pointer, ql uintptr, f unsafe.Pointer, fl uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr

// invoke passes Go strings to C for the duration of one call.
func (c *connection) invoke(fn call, query, format string, params []param) uintptr {
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
		names[i], nameLens[i] = text(p.name), uintptr(len(p.name))
		values[i], valueLens[i] = text(p.value), uintptr(len(p.value))
	}
	for _, p := range []any{&names[0], &values[0], &nameLens[0], &valueLens[0]} {
		pin.Pin(p)
	}
	return fn(c.inner(), text(query), uintptr(len(query)), text(format), uintptr(len(format)),
		unsafe.Pointer(&names[0]), unsafe.Pointer(&nameLens[0]), unsafe.Pointer(&values[0]), unsafe.Pointer(&valueLens[0]), uintptr(n))
}

// query runs one statement and returns its whole result in format.
func (c *connection) query(query, format string, params []param) (result, error) {
	return c.lib.take(c.invoke(c.lib.query, query, format, params))
}

// exec runs a statement and discards its result.
func (c *connection) exec(query string) error {
	r, err := c.query(query, "Null", nil)
	if err != nil {
		return err
	}
	r.free()
	return nil
}

// stream starts a SELECT whose result is fetched in pieces.
func (c *connection) stream(query, format string, params []param) (*stream, error) {
	r, err := c.lib.take(c.invoke(c.lib.stream, query, format, params))
	if err != nil {
		return nil, err
	}
	return &stream{conn: c, result: r}, nil
}

// stream is a running SELECT.
type stream struct {
	conn   *connection
	result result
	over   bool
}

// next returns the next piece, which the caller frees; ok is false at the end.
func (s *stream) next() (piece result, ok bool, err error) {
	if s.over {
		return result{}, false, nil
	}
	piece, err = s.conn.lib.take(s.conn.lib.fetch(s.conn.inner(), s.result.handle))
	if err != nil {
		s.over = true
		return result{}, false, err
	}
	if len(piece.data()) == 0 {
		s.over = true
		piece.free()
		return result{}, false, nil
	}
	return piece, true, nil
}

// close cancels a running query and frees the handle.
func (s *stream) close() {
	if !s.over {
		s.conn.lib.cancel(s.conn.inner(), s.result.handle)
	}
	s.result.free()
}

// insert starts an INSERT whose data is appended in pieces. query has neither a FORMAT clause nor data.
func (c *connection) insert(query, format string, params []param) (*insertion, error) {
	handle := c.invoke(c.lib.insert, query, format, params)
	if handle == 0 {
		return nil, errors.New("starting an insert: the engine gave no handle")
	}
	if message := c.lib.insertError(handle); message != "" {
		c.lib.destroyInsert(handle)
		return nil, parseException(message)
	}
	return &insertion{lib: c.lib, handle: handle}, nil
}

// insertion is a running INSERT.
type insertion struct {
	lib    *library
	handle uintptr
}

// write appends data, which the engine copies. It blocks while the engine is behind.
func (i *insertion) write(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if i.lib.appendInsert(i.handle, unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data))) == 0 {
		return nil
	}
	runtime.KeepAlive(data)
	return errInsertFailed
}

// errInsertFailed means that the insert failed; done returns the cause.
var errInsertFailed = errors.New("the insert has failed")

// done commits and returns what was written, or the error of the insert.
func (i *insertion) done() (counters, error) {
	defer i.lib.destroyInsert(i.handle)
	r, err := i.lib.take(i.lib.doneInsert(i.handle))
	if err != nil {
		return counters{}, err
	}
	defer r.free()
	return r.counters(), nil
}

// abort cancels the insert without committing incomplete blocks.
func (i *insertion) abort() {
	i.lib.cancelInsert(i.handle)
	i.lib.destroyInsert(i.handle)
}

// pointer converts an address of C memory into a pointer without violating the vet rule about Go memory.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// quote makes a ClickHouse string literal.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// quoteName makes a ClickHouse identifier.
func quoteName(s string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
}
