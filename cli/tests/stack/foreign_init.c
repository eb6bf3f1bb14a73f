/*
 * The first process of a virtual machine, for foreign_oracle: lets programs fall asleep, ends each by SIGSYS, writes its core to
 * the serial line, and switches the machine off. /programs has a program a line, with tabs between its words.
 */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { WORDS = 16, LINE = 1024 };

static int line; /* the serial one */

static void send(const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(line, bytes, size);

        if (n <= 0)
            return;
        bytes += n;
        size -= (size_t)n;
    }
}

static void write_text(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY);

    if (write(fd, text, strlen(text)) < 0)
        dprintf(line, "\ncannot write %s\n", path);
    close(fd);
}

/* What its call is: its number and its arguments in text; "running" or nothing if it is in none. */
static void read_call(char text[64], const char *path)
{
    FILE *file = fopen(path, "r");

    if (!file || !fgets(text, 64, file))
        text[0] = '\0';
    if (file)
        fclose(file);
}

/* Waits for what never comes: input on descriptor 0, events, or the end of an hour. AArch64's numbers. */
static bool waits_for_ever(const char *call)
{
    static const char *const calls[] = { "63 0x0 ", "72 ", "73 ", "115 " };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(call, calls[i], strlen(calls[i])) == 0)
            return true;
    return false;
}

/* The first thread waits for ever, by which its program has begun all others, and these are in some call. */
static bool sleeps(pid_t pid)
{
    char path[64], call[64];
    glob_t found;
    bool all;

    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    read_call(call, path);
    if (!waits_for_ever(call))
        return false;
    snprintf(path, sizeof path, "/proc/%d/task/*/syscall", (int)pid);
    all = glob(path, 0, NULL, &found) == 0;
    for (size_t i = 0; all && i < found.gl_pathc; i++) {
        read_call(call, found.gl_pathv[i]);
        all = call[0] >= '0' && call[0] <= '9';
    }
    globfree(&found);
    return all;
}

static void send_core(const char *name, int status)
{
    static char bytes[64 << 10];
    const int fd = open("core", O_RDONLY);
    struct stat file;
    ssize_t n;

    if (fd < 0 || fstat(fd, &file) != 0) {
        dprintf(line, "\n%s left no core: status 0x%x\n", name, (unsigned)status);
        return;
    }
    dprintf(line, "\nSFB-CORE %s %ld\n", name, (long)file.st_size);
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        send(bytes, (size_t)n);
    close(fd);
    unlink("core");
}

static void begin(char *const *words, const int *in)
{
    const int nowhere = open("/dev/null", O_WRONLY);

    dup2(in[0], STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(in[1]);
    execv(words[0], words);
    _exit(127);
}

static void run(char *const *words)
{
    int in[2], status = 0;
    pid_t pid;

    if (pipe(in) != 0)
        return;
    pid = fork();
    if (pid == 0)
        begin(words, in);
    close(in[0]);
    while (waitpid(pid, &status, WNOHANG) == 0 && !sleeps(pid))
        ;
    kill(pid, SIGSYS);
    waitpid(pid, &status, 0);
    close(in[1]);
    send_core(strrchr(words[0], '/') + 1, status);
}

static void run_all(void)
{
    FILE *programs = fopen("/programs", "r");
    char text[LINE], *words[WORDS];

    while (programs && fgets(text, sizeof text, programs)) {
        size_t count = 0;

        for (char *word = strtok(text, "\t\n"); word && count < WORDS - 1;
             word = strtok(NULL, "\t\n"))
            words[count++] = word;
        words[count] = NULL;
        if (count > 0)
            run(words);
    }
}

int main(void)
{
    const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
    struct termios raw;

    mkdir("/proc", 0755);
    mkdir("/dev", 0755);
    mkdir("/cores", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    line = open("/dev/ttyAMA0", O_RDWR | O_NOCTTY);
    tcgetattr(line, &raw);
    cfmakeraw(&raw);
    tcsetattr(line, TCSANOW, &raw);
    setrlimit(RLIMIT_CORE, &all);
    write_text("/proc/sys/kernel/core_pattern", "core");
    if (chdir("/cores") == 0)
        run_all();
    dprintf(line, "\nSFB-DONE\n");
    tcdrain(line);
    return reboot(RB_POWER_OFF);
}
