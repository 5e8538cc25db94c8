import { writeFileSync } from 'node:fs';

/**
 * Keeps the memory of this process, its threads and its children out of core files: keys and tokens lie in it, and a core file outlives the
 * job. No kind of mapping is written from then on (core(5), "Controlling which mappings are written to the core dump"); what is left is the
 * list of threads with their registers. Does nothing where the kernel has no such switch.
 */
export function keepMemoryOutOfCoreFiles(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Not Linux, or /proc is out of sight.
  }
}
