// A library that moves the clocks of a process, of its C and of its Go code, also while it runs:
//
//   cc -O2 -shared -fPIC -o clock.so clock.c
//   LD_PRELOAD=…/clock.so PROGRAM
//
// The file `offset` beside the library has eight bytes: the nanoseconds that are added to the wall clock and to the
// monotonic clocks. All processes map the file, so one write moves all their clocks at the same moment. The program is not
// changed: the functions of the kernel's vDSO, which the Go runtime and the engine call past the C library, are
// overwritten with jumps to this file. Waits with a relative timeout last as long as without the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000L

static volatile long *offset;

// Without calls of libraries, because the caller can be a Go thread with a small stack.
static int moved_clock_gettime(long clock, struct timespec *t) {
	long failed;
	__asm__ volatile("syscall" : "=a"(failed) : "a"(SYS_clock_gettime), "D"(clock), "S"(t) : "rcx", "r11", "memory");
	if (!failed && clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID) {
		long ns = t->tv_nsec + *offset;
		t->tv_sec += ns / SECOND;
		t->tv_nsec = ns % SECOND;
	}
	return failed;
}

static int moved_gettimeofday(struct timeval *tv, void *zone) {
	struct timespec t;
	(void)zone;
	moved_clock_gettime(CLOCK_REALTIME, &t);
	if (tv) {
		tv->tv_sec = t.tv_sec;
		tv->tv_usec = t.tv_nsec / 1000;
	}
	return 0;
}

static long moved_time(long *to) {
	struct timespec t;
	moved_clock_gettime(CLOCK_REALTIME, &t);
	if (to)
		*to = t.tv_sec;
	return t.tv_sec;
}

// The kernel compares an absolute deadline with its own clock. Bit 1 of wrefs is the clock of the condition (glibc).
static int moved_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline) {
	struct timespec t = *deadline;
	long ns = t.tv_sec * SECOND + t.tv_nsec - *offset;
	t.tv_sec = ns < 0 ? 0 : ns / SECOND;
	t.tv_nsec = ns < 0 ? 0 : ns % SECOND;
	return pthread_cond_clockwait(cond, mutex, cond->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
}

// A mapping can be protected as a whole only, if it is the vDSO.
static void overwrite(char *at, void *with) { // movabs $with, %rax; jmp *%rax
	char jump[12] = {0x48, (char)0xb8, 0, 0, 0, 0, 0, 0, 0, 0, (char)0xff, (char)0xe0}, line[512];
	memcpy(jump + 2, &with, 8);
	unsigned long from, to;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= (unsigned long)at && (unsigned long)at < to) {
			fclose(maps);
			if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC))
				break;
			memcpy(at, jump, sizeof jump);
			mprotect((void *)from, to - from, PROT_READ | PROT_EXEC);
			return;
		}
	perror("clock.so: overwriting a function");
	abort();
}

__attribute__((constructor)) static void move(void) {
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR), name[4096];
	Dl_info self;
	dladdr(overwrite, &self);
	snprintf(name, sizeof name, "%.*s/offset", (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname);
	int file = open(name, O_RDONLY | O_CLOEXEC);
	offset = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
	if (!vdso || offset == MAP_FAILED) {
		perror(name);
		abort();
	}
	close(file);

	Elf64_Shdr *sections = (Elf64_Shdr *)(vdso + ((Elf64_Ehdr *)vdso)->e_shoff);
	for (int i = 0; i < ((Elf64_Ehdr *)vdso)->e_shnum; i++) {
		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		Elf64_Sym *symbols = (Elf64_Sym *)(vdso + sections[i].sh_offset);
		char *names = vdso + sections[sections[i].sh_link].sh_offset;
		for (unsigned long j = 0; j < sections[i].sh_size / sizeof *symbols; j++) {
			char *is = names + symbols[j].st_name, *at = vdso + symbols[j].st_value;
			if (!strcmp(is, "__vdso_clock_gettime"))
				overwrite(at, moved_clock_gettime);
			else if (!strcmp(is, "__vdso_gettimeofday"))
				overwrite(at, moved_gettimeofday);
			else if (!strcmp(is, "__vdso_time"))
				overwrite(at, moved_time);
		}
	}
	overwrite(dlsym(RTLD_DEFAULT, "pthread_cond_timedwait"), moved_timedwait);
}
